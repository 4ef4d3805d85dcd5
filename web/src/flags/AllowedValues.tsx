import { ActionIcon, Button, Checkbox, Group, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "../ui/icons";
import { TextField } from "../ui/TextField";
import { readAs } from "../ui/typed";
import styles from "./AllowedValues.module.css";
import type { Allowed } from "./allowed";
import type { Attributes } from "./flags";

interface Props {
  type: Attributes["type"];
  /** values is null while any value may be served. */
  values: Allowed[] | null;
  onChange: (values: Allowed[] | null) => void;
  /** problem returns the server's message about a member of a value. */
  problem: (index: number, member: keyof Allowed) => string | undefined;
  disabled: boolean;
}

/** AllowedValues edits the values that a flag may serve: each with a name, in a small table. */
export function AllowedValues({ type, values, onChange, problem, disabled }: Props) {
  const change = (at: number, changes: Partial<Allowed>) =>
    onChange((values ?? []).map((each, index) => (index === at ? { ...each, ...changes } : each)));
  return (
    <fieldset className={styles.allowed} disabled={disabled}>
      <legend>Values that may be served</legend>
      <Checkbox
        size="xs"
        label="Any value"
        checked={values === null}
        onChange={(event) => onChange(event.currentTarget.checked ? null : [])}
      />
      {values && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Value</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {values.map(({ name, value }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else, and names may repeat
              <tr key={index}>
                <td>
                  <TextInput
                    size="xs"
                    aria-label={`Name of value ${index + 1}`}
                    value={name}
                    error={problem(index, "name")}
                    onChange={(event) => change(index, { name: event.currentTarget.value })}
                  />
                </td>
                <td>
                  <TextField
                    size="xs"
                    aria-label={`Value ${index + 1}`}
                    classNames={{ input: "mono" }}
                    description={null}
                    inputMode={type === "NUMERIC" ? "decimal" : undefined}
                    value={value}
                    error={problem(index, "value") ?? (value === "" ? undefined : readAs(value, type).problem)}
                    onChange={(event) => change(index, { value: event.currentTarget.value })}
                  />
                </td>
                <td>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Remove value ${index + 1}`}
                    onClick={() => onChange(values.filter((_, at) => at !== index))}
                  >
                    <IconTrash size={15} />
                  </ActionIcon>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {values && (
        <Group gap="xs">
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPlus size={13} />}
            onClick={() => onChange([...values, { name: "", value: "" }])}
          >
            Add a value
          </Button>
          <Text size="xs" className="muted">
            The default and every rule must serve one of them.
          </Text>
        </Group>
      )}
    </fieldset>
  );
}
