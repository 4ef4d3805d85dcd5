import { Checkbox, Code, Group, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useEnvironments } from "../api/session";
import { CopyAs } from "../ui/CopyAs";
import { CopyText } from "../ui/CopyText";
import { useDraft } from "../ui/draft";
import { FormPanel } from "../ui/FormModal";
import { RoleSelect } from "../ui/RoleSelect";
import { ShownOnce } from "../ui/ShownOnce";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { attributesOf, commandOf, type Draft, empty, exampleFor, goOf } from "./draft";

/** NewKey creates a key and shows it once. */
export function NewKey({ close }: { close: () => void }) {
  const writer = useWriter();
  const kept = useDraft("api_key:new", "", empty);
  const { value: draft, change } = kept;
  const [made, setMade] = useState<Made>();
  const { submit, failure, busy } = useSubmit(async () => {
    const created = await writer.perform({
      kind: "api_key",
      id: "",
      method: "POST",
      title: `Create the key ${draft.name}`,
      done: `Created the key ${draft.name}.`,
      final: true,
      change: () => attributesOf(draft),
    });
    if (!created) return;
    setMade({ draft, secret: (created.attributes as { key?: string }).key ?? "" });
    kept.discard();
  });
  return (
    <FormPanel title="New key" draft={kept} close={close}>
      {made ? (
        <MadeKey {...made} />
      ) : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <TextInput
              label="Name"
              description="The program and its environment, such as “checkout service, production”."
              size="sm"
              value={draft.name}
              required
              maxLength={255}
              error={failure?.at("/data/attributes/name")}
              onChange={(event) => change({ name: event.currentTarget.value })}
            />
            <Access draft={draft} change={change} />
            <Places draft={draft} change={change} error={failure?.at("/data/attributes/scopes/environments")} />
            {draft.access === "evaluate" && (
              <Textarea
                label="Origins"
                description="Pages that may use it, one per line, such as https://shop.example.com. Empty: any page."
                size="sm"
                autosize
                minRows={2}
                value={draft.origins}
                error={failure?.at("/data/attributes/scopes/origins")}
                onChange={(event) => change({ origins: event.currentTarget.value })}
              />
            )}
            <NativeSelect
              label="Expires"
              size="sm"
              data={[
                { value: "", label: "Never" },
                { value: "1", label: "In a day" },
                { value: "30", label: "In 30 days" },
                { value: "90", label: "In 90 days" },
                { value: "365", label: "In a year" },
              ]}
              value={draft.days}
              error={failure?.at("/data/attributes/expires_at")}
              onChange={(event) => change({ days: event.currentTarget.value })}
            />
            {failure && <ErrorState error={failure} />}
            <Group>
              <SubmitButton needs="ADMIN" size="compact-sm" busy={busy}>
                Create the key
              </SubmitButton>
              <CopyAs
                method="POST"
                path="/api/v1/api_keys"
                body={{ data: { type: "api_key", attributes: attributesOf(draft) } }}
                cli={commandOf(draft)}
                go={goOf(draft)}
              />
            </Group>
          </Stack>
        </form>
      )}
    </FormPanel>
  );
}

/** Made is a key that was created. The key itself is never stored. */
interface Made {
  draft: Draft;
  secret: string;
}

function MadeKey({ draft: { name, access, environments }, secret }: Made) {
  const example = exampleFor(window.location.origin, access, secret, environments[0]);
  return (
    <Stack>
      <ShownOnce label={`The key ${name}`} secret={secret} />
      <Text fw={600} size="sm">
        {access === "levels" ? "URL for Logback" : "Try it"}
      </Text>
      <div className="code-block">
        <Code block tabIndex={0}>
          {example}
        </Code>
        <CopyText text={example} />
      </div>
      {access === "levels" && (
        <Text size="sm" className="muted">
          Log4j 2 reads log4j2.xml in its place, Python python.json, and your own code levels.json.
        </Text>
      )}
    </Stack>
  );
}

interface Part {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}

const purposes: Record<Draft["access"], string> = {
  full: "Keep it secret. Its role decides what it may do.",
  evaluate: "It can only evaluate flags of one environment, so it need not be secret.",
  levels: "It can only read the log levels of one environment, so it may be in a URL.",
};

function Access({ draft, change }: Part) {
  return (
    <Stack gap={6}>
      <NativeSelect
        label="For"
        description={purposes[draft.access]}
        size="sm"
        value={draft.access}
        onChange={(event) => change({ access: event.currentTarget.value as Draft["access"], environments: draft.environments.slice(0, 1) })}
        data={[
          { value: "full", label: "A service or a script" },
          { value: "evaluate", label: "A browser or an app" },
          { value: "levels", label: "Logback, Log4j or Python, for log levels" },
        ]}
      />
      {draft.access === "full" && <RoleSelect value={draft.role} onChange={(role) => change({ role })} />}
    </Stack>
  );
}

function Places({ draft, change, error }: Part & { error?: string }) {
  const environments = useEnvironments();
  const one = draft.access !== "full";
  const toggle = (id: string, checked: boolean) =>
    change({
      environments: one ? (checked ? [id] : []) : checked ? [...draft.environments, id] : draft.environments.filter((each) => each !== id),
    });
  return (
    <Checkbox.Group
      label={one ? "Environment" : "Environments"}
      description={
        one
          ? "Exactly one."
          : "Empty: the key may write everywhere. Otherwise it reads everything and writes values of these environments only."
      }
      error={error}
      value={draft.environments}
    >
      <Group gap="md" mt={6}>
        {environments.map(({ id, name }) => (
          <Checkbox key={id} size="xs" value={id} label={name} onChange={(event) => toggle(id, event.currentTarget.checked)} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
