import { Group, Stack, Text, TextInput } from "@mantine/core";
import { CopyAs } from "../ui/CopyAs";
import { asCommand, asGo } from "../ui/copyas";
import { useDraft } from "../ui/draft";
import { FormPanel } from "../ui/FormModal";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { goMembersOf, NameAndColor } from "./EnvironmentForm";

/** NewEnvironment creates an environment, which is managed from the start. */
export function NewEnvironment({ close }: { close: (id?: string) => void }) {
  const writer = useWriter();
  const draft = useDraft("environment:new", "", { id: "", name: "", color: "" });
  const { id, name, color } = draft.value;
  const attributes = { name: name || id, color: color || null };
  const { submit, failure, busy } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "environment",
      id,
      method: "POST",
      title: `Create the environment ${id}`,
      done: `Created ${id}.`,
      change: () => attributes,
    });
    if (!made) return;
    draft.discard();
    close(made.id);
  });
  return (
    <FormPanel title="New environment" draft={draft} close={close}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" className="muted">
            It comes last in the order and is managed, so it counts toward the plan.
          </Text>
          <TextInput
            label="Id"
            description="The name that services report: letters, digits, dots, dashes and underscores."
            size="sm"
            className="mono"
            value={id}
            required
            maxLength={100}
            error={failure?.at("/data/id")}
            onChange={(event) => draft.change({ id: event.currentTarget.value })}
          />
          <NameAndColor name={name || id} color={color} change={draft.change} failure={failure} />
          {failure && <ErrorState error={failure} />}
          <Group>
            <SubmitButton needs="ADMIN" size="compact-sm" busy={busy} disabled={id === ""}>
              Create
            </SubmitButton>
            <CopyAs
              method="POST"
              path="/api/v1/environments"
              body={{ data: { type: "environment", id, attributes } }}
              cli={asCommand(["environments", "create", id || "ID"], { name, color })}
              go={asGo("Environments.Create", id || "ID", "EnvironmentDraft", goMembersOf(attributes))}
            />
          </Group>
        </Stack>
      </form>
    </FormPanel>
  );
}
