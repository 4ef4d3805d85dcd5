import { Input, NativeSelect, TextInput } from "@mantine/core";
import { JsonEditor } from "../ui/JsonEditor";
import { readAs, textOf } from "../ui/typed";
import type { Attributes } from "./flags";

interface ValueProps {
  label: string;
  type: Attributes["type"];
  /** values are the allowed values of the flag, if it has some. */
  values?: Attributes["values"];
  /** text is the value as somebody types it; it may be unfinished. */
  text: string;
  onChange: (text: string) => void;
  error?: string;
  disabled?: boolean;
}

/** ValueInput edits a value of a flag's type, and says what is wrong with the text. */
export function ValueInput({ label, type, values, text, onChange, error, disabled }: ValueProps) {
  if (type === "BOOLEAN") {
    return (
      <NativeSelect
        label={label}
        disabled={disabled}
        error={error}
        value={text}
        data={["true", "false"]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  if (values && values.length > 0) {
    const at = values.findIndex((each) => textOf(each.value, type) === text);
    return (
      <NativeSelect
        label={label}
        disabled={disabled}
        error={error}
        value={String(at)}
        data={values.map((each, index) => ({ value: String(index), label: each.name }))}
        onChange={(event) => onChange(textOf(values[Number(event.currentTarget.value)]?.value, type))}
      />
    );
  }
  const problem = error ?? readAs(text, type).problem;
  if (type === "JSON")
    return (
      <Input.Wrapper label={label} error={problem}>
        <JsonEditor label={label} value={text} onChange={onChange} readOnly={disabled} minHeight={60} />
      </Input.Wrapper>
    );
  return (
    <TextInput
      label={label}
      disabled={disabled}
      error={problem}
      inputMode={type === "NUMERIC" ? "decimal" : undefined}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
