import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { changedMembers } from "../ui/diff";
import { useDraft } from "../ui/draft";
import { Restored } from "../ui/FormModal";
import { RoleGate, useRefusal } from "../ui/RoleGate";
import { textOf, valueFrom } from "../ui/typed";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { AllowedValues } from "./AllowedValues";
import { type Allowed, allowedOf, valuesFrom } from "./allowed";
import { type Attributes, type Flag, withDefinition } from "./flags";
import { ValueInput } from "./ValueInput";

interface Form {
  name: string;
  description: string;
  value: string;
  values: Allowed[] | null;
}

const formOf = ({ name, description, type, default: value, values }: Attributes): Form => ({
  name,
  description: description ?? "",
  value: textOf(value, type),
  values: allowedOf({ type, values }),
});

/** membersOf returns the members of a flag that the form edits, or throws a sentence about a text that is not a valid value. */
const membersOf = ({ name, description, value, values }: Form, type: Attributes["type"]) => ({
  name,
  description: description || null,
  default: valueFrom("The default", value, type),
  ...(type !== "BOOLEAN" && { values: valuesFrom(values, type) }),
});

/** Definition edits the members of a flag that apply to all environments: name, description, default, and allowed values. */
export default function Definition({ flag, etag }: { flag: Flag; etag: string }) {
  const writer = useWriter();
  const { attributes } = flag;
  const { type } = attributes;
  const draft = useDraft(`flag:${flag.id}/definition`, etag, formOf(attributes));
  const { name, description, value, values } = draft.value;
  const refusal = useRefusal("MEMBER");
  const { submit, failure, busy } = useSubmit(async () => {
    const changes = changedMembers(membersOf(draft.base, type), membersOf(draft.value, type));
    const written = await writer.perform({
      kind: "flag",
      id: flag.id,
      etag: draft.version,
      title: `Change ${flag.id}`,
      done: `Changed ${flag.id}.`,
      environments: ["production"],
      change: (current) => withDefinition(current, changes),
    });
    if (written) draft.discard();
  });
  return (
    <form onSubmit={submit}>
      <Restored draft={draft} />
      <Stack maw={640}>
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
          error={failure?.at("/data/attributes/name")}
        />
        <TextInput
          label="Description"
          value={description}
          onChange={(event) => draft.change({ description: event.currentTarget.value })}
          error={failure?.at("/data/attributes/description")}
        />
        <ValueInput
          label="Default for environments without their own"
          type={type}
          values={attributes.values}
          text={value}
          onChange={(text) => draft.change({ value: text })}
          error={failure?.at("/data/attributes/default")}
        />
        {type !== "BOOLEAN" && (
          <AllowedValues
            type={type}
            values={values}
            onChange={(next) => draft.change({ values: next })}
            problem={(index, member) => failure?.at(`/data/attributes/values/${index}/${member}`)}
            disabled={refusal !== undefined}
          />
        )}
        {failure && (
          <Text size="sm" role="alert" className="error">
            {failure.message}
          </Text>
        )}
        <Group>
          <RoleGate needs="MEMBER">
            {(disabled) => (
              <Button type="submit" size="xs" disabled={disabled || !draft.isChanged} loading={busy}>
                Save
              </Button>
            )}
          </RoleGate>
        </Group>
      </Stack>
    </form>
  );
}
