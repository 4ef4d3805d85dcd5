import { Switch, TextInput } from "@mantine/core";
import { JsonEditor, type JsonProblem } from "../ui/JsonEditor";
import { TextField } from "../ui/TextField";
import styles from "./configs.module.css";
import type { ItemType } from "./values";

interface Input {
  type: ItemType;
  label: string;
  text: string;
  onChange: (text: string) => void;
  problems: JsonProblem[];
  disabled?: boolean;
}

/** ValueInput edits a value of an item with the control of its type. */
export function ValueInput({ type, label, text, onChange, problems, disabled }: Input) {
  const error = problems.length > 0 ? problems.map(({ message }) => message).join(" ") : undefined;
  const field = { "aria-label": label, disabled, error, "data-autofocus": true, value: text };
  switch (type) {
    case "BOOLEAN":
      return (
        <Switch
          aria-label={label}
          label={text}
          checked={text === "true"}
          disabled={disabled}
          error={error}
          data-autofocus
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
      );
    case "NUMBER":
      return (
        <TextInput
          {...field}
          inputMode="decimal"
          classNames={{ input: "mono" }}
          onChange={(event) => onChange(event.currentTarget.value)}
          onFocus={(event) => event.currentTarget.select()}
        />
      );
    case "JSON":
      return (
        <div>
          <div className={styles.editor}>
            <JsonEditor label={label} value={text} onChange={onChange} problems={problems} readOnly={disabled} />
          </div>
          {error && (
            <p role="alert" style={{ color: "var(--mantine-color-error)", fontSize: 12, margin: "6px 0 0" }}>
              {error}
            </p>
          )}
        </div>
      );
    default:
      return <TextField {...field} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
}
