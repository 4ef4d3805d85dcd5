import { Input, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { JsonEditor } from "../ui/JsonEditor";
import type { Attributes } from "./flags";

interface ValueProps {
  label: string;
  type: Attributes["type"];
  /** values are the allowed values of the flag, if it has some. */
  values?: Attributes["values"];
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string;
  disabled?: boolean;
}

/** ValueInput edits a value of a flag's type. */
export function ValueInput({ label, type, values, value, onChange, error, disabled }: ValueProps) {
  if (type === "BOOLEAN") {
    return (
      <NativeSelect
        label={label}
        disabled={disabled}
        error={error}
        value={String(value)}
        data={["true", "false"]}
        onChange={(event) => onChange(event.currentTarget.value === "true")}
      />
    );
  }
  if (values && values.length > 0) {
    const at = values.findIndex((each) => JSON.stringify(each.value) === JSON.stringify(value));
    return (
      <NativeSelect
        label={label}
        disabled={disabled}
        error={error}
        value={String(at)}
        data={values.map((each, index) => ({ value: String(index), label: each.name }))}
        onChange={(event) => onChange(values[Number(event.currentTarget.value)]?.value)}
      />
    );
  }
  if (type === "NUMERIC")
    return (
      <NumberInput
        label={label}
        disabled={disabled}
        error={error}
        value={value as number}
        onChange={(next) => onChange(typeof next === "number" ? next : Number(next))}
        hideControls
      />
    );
  if (type === "STRING")
    return (
      <TextInput
        label={label}
        disabled={disabled}
        error={error}
        value={String(value ?? "")}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <JsonInput label={label} value={value} onChange={onChange} error={error} disabled={disabled} />;
}

function JsonInput({ label, value, onChange, error, disabled }: Omit<ValueProps, "type">) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const change = (next: string) => {
    setText(next);
    try {
      onChange(JSON.parse(next));
    } catch {} // the editor marks it
  };
  return (
    <Input.Wrapper label={label} error={error}>
      <JsonEditor label={label} value={text} onChange={change} readOnly={disabled} minHeight={60} />
    </Input.Wrapper>
  );
}
