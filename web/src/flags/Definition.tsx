import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { JsonEditor } from "../ui/JsonEditor";
import { RoleGate } from "../ui/RoleGate";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { type Flag, withDefinition } from "./flags";
import { ValueInput } from "./ValueInput";

/** Definition edits the members of a flag that apply to all environments: name, description, default, and allowed values. */
export default function Definition({ flag, etag }: { flag: Flag; etag: string }) {
  const writer = useWriter();
  const { attributes } = flag;
  const [name, setName] = useState(attributes.name);
  const [description, setDescription] = useState(attributes.description ?? "");
  const [value, setValue] = useState(attributes.default);
  const [values, setValues] = useState(() => JSON.stringify(attributes.values, null, 2));
  const [opened, setOpened] = useState(etag);
  const { submit, failure } = useSubmit(async () => {
    const changes = {
      name,
      description: description || null,
      default: value,
      ...(attributes.type !== "BOOLEAN" && { values: JSON.parse(values) }),
    };
    const written = await writer.perform({
      kind: "flag",
      id: flag.id,
      etag: opened,
      title: `Change ${flag.id}`,
      done: `${flag.id} was changed.`,
      environments: ["production"],
      change: (current) => withDefinition(current, changes),
    });
    if (written) setOpened(""); // later writes change the newest version
  });
  return (
    <form onSubmit={submit}>
      <Stack maw={640}>
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={failure?.at("/data/attributes/name")}
        />
        <TextInput
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={failure?.at("/data/attributes/description")}
        />
        <ValueInput
          label="Default for environments without their own"
          type={attributes.type}
          values={attributes.values}
          value={value}
          onChange={setValue}
          error={failure?.at("/data/attributes/default")}
        />
        {attributes.type !== "BOOLEAN" && (
          <div>
            <Text size="sm" fw={500}>
              Values that may be served
            </Text>
            <Text size="xs" className="muted" mb={4}>
              null allows any value; otherwise a list such as [&#123;"name": "Red", "value": "#f00"&#125;].
            </Text>
            <JsonEditor
              label="Values"
              value={values}
              onChange={setValues}
              minHeight={60}
              problems={(failure?.problems ?? []).map(({ detail, title }) => ({ message: detail ?? title }))}
            />
          </div>
        )}
        {failure && (
          <Text size="sm" role="alert" className="error">
            {failure.message}
          </Text>
        )}
        <Group>
          <RoleGate needs="MEMBER">
            {(disabled) => (
              <Button type="submit" size="xs" disabled={disabled}>
                Save
              </Button>
            )}
          </RoleGate>
        </Group>
      </Stack>
    </form>
  );
}
