import { Input, NativeSelect, TextInput } from "@mantine/core";
import { JsonEditor } from "../ui/JsonEditor";
import { TextField } from "../ui/TextField";
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
  /** hint is what a text says about its keys; null for a text outside of a form, where Enter starts a new line. */
  hint?: null;
}

/** ValueInput edits a value of a flag's type, and says what is wrong with the text. */
export function ValueInput({ label, type, values, text, onChange, error, disabled, hint }: ValueProps) {
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
  const field = { label, disabled, error: problem, value: text };
  if (type === "STRING") return <TextField {...field} description={hint} onChange={(event) => onChange(event.currentTarget.value)} />;
  return <TextInput {...field} inputMode="decimal" onChange={(event) => onChange(event.currentTarget.value)} />;
}
