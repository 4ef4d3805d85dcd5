import { ActionIcon, Button, PasswordInput, TextInput } from "@mantine/core";
import styles from "./HeaderRows.module.css";
import { IconPlus, IconTrash } from "./icons";

interface Header {
  name: string;
  value: string;
}

interface Rows {
  headers: Header[];
  onChange: (headers: Header[]) => void;
  /** problem returns the problem with a member of a header. */
  problem: (index: number, member: keyof Header) => string | undefined;
  disabled: boolean;
}

/** HeaderRows edits the headers of a request. Values are masked until somebody asks to see one. */
export function HeaderRows({ headers, onChange, problem, disabled }: Rows) {
  const change = (at: number, changes: Partial<Header>) =>
    onChange(headers.map((header, index) => (index === at ? { ...header, ...changes } : header)));
  return (
    <>
      {headers.map((header, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else, and names may repeat
        <div key={index} className={styles.headerrow}>
          <TextInput
            size="xs"
            aria-label={`Name of header ${index + 1}`}
            placeholder="Authorization"
            value={header.name}
            error={problem(index, "name")}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <PasswordInput
            size="xs"
            aria-label={`Value of header ${index + 1}`}
            placeholder="Bearer …"
            autoComplete="off"
            value={header.value}
            error={problem(index, "value")}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
            visibilityToggleButtonProps={{ "aria-label": `Show the value of header ${index + 1}` }}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove header ${index + 1}`}
            disabled={disabled}
            onClick={() => onChange(headers.filter((_, at) => at !== index))}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="compact-xs"
        variant="default"
        w="fit-content"
        disabled={disabled}
        leftSection={<IconPlus size={13} />}
        onClick={() => onChange([...headers, { name: "", value: "" }])}
      >
        Add a header
      </Button>
    </>
  );
}
