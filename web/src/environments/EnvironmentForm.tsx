import { Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import type { ApiError } from "../api/client";
import type { Resource } from "../api/kinds";
import { CopyAs } from "../ui/CopyAs";
import { asCommand, asGo, goText } from "../ui/copyas";
import { changedMembers } from "../ui/diff";
import { type Drafting, useDraft } from "../ui/draft";
import { Outdated } from "../ui/FormModal";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";

interface Draft {
  name: string;
  /** color is "" for none. */
  color: string;
  classification: string;
}

/** useEnvironmentDraft holds what somebody typed about an environment. */
export function useEnvironmentDraft({ id, attributes }: Resource<"environment">, etag: string): Drafting<Draft> {
  const { name, color, classification } = attributes;
  return useDraft<Draft>(`environment:${id}`, etag, { name, color: color ?? "", classification });
}

const attributesOf = ({ color, ...draft }: Draft) => ({ ...draft, color: color || null });

/** goMembersOf returns the members of a draft of the Go client. */
export const goMembersOf = ({ name, color, classification }: { name: string; color: string | null; classification?: string }) => ({
  Name: goText(name),
  Color: color ? `new(${goText(color)})` : undefined,
  Classification: classification && goText(classification),
});

/** EnvironmentForm changes the name, color and kind of an environment. */
export function EnvironmentForm({ id, draft }: { id: string; draft: Drafting<Draft> }) {
  const writer = useWriter();
  const { name, color, classification } = draft.value;
  const wanted = attributesOf(draft.value);
  const { submit, failure, busy } = useSubmit(async () => {
    const changes = changedMembers(attributesOf(draft.base), wanted);
    const written = await writer.perform({
      kind: "environment",
      id,
      etag: draft.version,
      environments: [id],
      title: `Change ${id}`,
      done: `Changed ${id}.`,
      change: (current) => ({ name: current?.name, color: current?.color, classification: current?.classification, ...changes }),
    });
    if (written) draft.discard();
  });
  return (
    <form onSubmit={submit}>
      {draft.isOutdated && <Outdated what="environment" draft={draft} />}
      <Stack gap="sm">
        <Text size="sm" className="mono muted">
          {id}
        </Text>
        <NameAndColor name={name} color={color} change={draft.change} failure={failure} />
        <NativeSelect
          label="Kind"
          description="Ad hoc environments are temporary, such as those of test runs; lists show them only while they are managed."
          size="sm"
          value={classification}
          onChange={(event) => draft.change({ classification: event.currentTarget.value })}
          data={[
            { value: "STANDARD", label: "Standard" },
            { value: "AD_HOC", label: "Ad hoc" },
          ]}
        />
        {failure && <ErrorState error={failure} />}
        <Group>
          <SubmitButton needs="ADMIN" size="compact-sm" busy={busy}>
            Save
          </SubmitButton>
          <CopyAs
            method="PUT"
            path={`/api/v1/environments/${encodeURIComponent(id)}`}
            body={{ data: { type: "environment", id, attributes: wanted } }}
            cli={asCommand(["environments", "set", id], { name, color, classification })}
            go={asGo("Environments.Replace", id, "EnvironmentDraft", goMembersOf(wanted))}
          />
        </Group>
      </Stack>
    </form>
  );
}

interface Fields {
  name: string;
  color: string;
  change: (changes: { name: string } | { color: string }) => void;
  failure?: ApiError;
}

/** NameAndColor has the fields that the form of a new environment also has. */
export function NameAndColor({ name, color, change, failure }: Fields) {
  return (
    <Group align="flex-start" grow>
      <TextInput
        label="Name"
        size="sm"
        value={name}
        required
        maxLength={255}
        error={failure?.at("/data/attributes/name")}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Color"
        size="sm"
        type="color"
        value={color || "#6b7280"}
        error={failure?.at("/data/attributes/color")}
        onChange={(event) => change({ color: event.currentTarget.value })}
      />
    </Group>
  );
}
