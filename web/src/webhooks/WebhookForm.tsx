import { Alert, Button, Checkbox, Group, NativeSelect, PasswordInput, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { pathOf } from "../api/kinds";
import { useEnvironments } from "../api/session";
import { CopyAs } from "../ui/CopyAs";
import { HeaderRows } from "../ui/HeaderRows";
import { useRefusal } from "../ui/RoleGate";
import { ErrorState } from "../ui/states";
import { useDryRun } from "../ui/useDryRun";
import { useSubmit } from "../ui/useSubmit";
import { asCommand, attributesOf, type Draft, emptyDraft } from "./draft";
import { EventPicker } from "./EventPicker";
import { formats } from "./webhook";
import styles from "./webhooks.module.css";

interface Form {
  draft: Draft;
  /** id is undefined for a new webhook. */
  id?: string;
  isChanged: boolean;
  onChange: (changes: Partial<Draft>) => void;
  /** onSave throws the server's error, which is shown beside the members. */
  onSave: () => Promise<void>;
}

/** WebhookForm edits a webhook. The server checks it while people type. */
export function WebhookForm({ draft: given, id, isChanged, onChange, onSave }: Form) {
  const draft = { ...emptyDraft, ...given }; // a draft that an older version of the console stored may lack members
  const refusal = useRefusal("ADMIN");
  const isLocked = refusal !== undefined && !isChanged; // what was typed can be copied, even if it cannot be saved
  const [tried, setTried] = useState(false);
  const attributes = attributesOf(draft);
  const asked = !refusal && isChanged;
  const dry = useDryRun(asked ? { kind: "webhook", id: id ?? "", method: id ? "PUT" : "POST", attributes } : undefined);
  const {
    submit,
    failure: refused,
    busy,
  } = useSubmit(() => {
    setTried(true);
    return onSave();
  });
  const known = dry.failure ?? refused;
  // An empty field of a new form is not shown as a mistake before the first attempt to save.
  const at = (name: string, value = "x") => (!id && !tried && value === "" ? undefined : known?.at(`/data/attributes/${name}`));
  const within = (name: string) => at(name) ?? known?.within(`/data/attributes/${name}`);
  return (
    <form className={styles.form} onSubmit={submit}>
      <fieldset disabled={isLocked} className={styles.fieldset}>
        <Stack gap="md">
          {refusal && <Alert variant="light">{refusal}</Alert>}
          <Target draft={draft} onChange={onChange} at={at} isNew={!id} />
          <EventPicker events={draft.events} onChange={(events) => onChange({ events })} error={within("events")} />
          <Only draft={draft} onChange={onChange} error={within("filter/ids")} />
          <Text size="sm" fw={600} mb={-8}>
            Headers
          </Text>
          <HeaderRows
            headers={draft.headers}
            onChange={(headers) => onChange({ headers })}
            problem={(index, member) => at(`headers/${index}/${member}`, draft.headers[index]?.[member])}
            disabled={isLocked}
          />
        </Stack>
      </fieldset>
      <Stack gap="md">
        <Switch
          label="Enabled"
          description="A disabled webhook receives no events"
          disabled={isLocked}
          checked={draft.enabled}
          onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
        />
        {refused && <ErrorState error={refused} />}
        <Group gap="xs">
          <Button type="submit" size="sm" disabled={Boolean(refusal) || !isChanged} loading={busy}>
            {id ? "Save" : "Create the webhook"}
          </Button>
          <CopyAs
            method={id ? "PUT" : "POST"}
            path={pathOf("webhook", id)}
            body={{ data: { type: "webhook", id, attributes } }}
            cli={id ? undefined : asCommand(draft)}
          />
        </Group>
      </Stack>
    </form>
  );
}

interface Part {
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
}

function Target({ draft, onChange, at, isNew }: Part & { at: (name: string, value?: string) => string | undefined; isNew: boolean }) {
  const format = formats.find(({ value }) => value === draft.format);
  return (
    <>
      <div className={styles.pair}>
        <TextInput
          label="Name"
          placeholder="On call"
          required
          data-autofocus={isNew || undefined}
          value={draft.name}
          error={at("name", draft.name)}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <NativeSelect
          label="Format"
          data={formats.map(({ value, label }) => ({ value, label }))}
          value={draft.format}
          error={at("format")}
          onChange={(event) => onChange({ format: event.currentTarget.value as Draft["format"] })}
        />
      </div>
      <TextInput
        label="URL"
        description={format?.hint}
        placeholder={format?.url}
        required
        value={draft.url}
        error={at("url", draft.url)}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
        inputWrapperOrder={["label", "description", "input", "error"]}
      />
      {draft.format === "pagerduty" && (
        <PasswordInput
          label="Routing key"
          description="The integration key of the service in PagerDuty"
          required
          autoComplete="off"
          value={draft.routingKey}
          error={at("headers", draft.routingKey)}
          onChange={(event) => onChange({ routingKey: event.currentTarget.value })}
          visibilityToggleButtonProps={{ "aria-label": "Show the routing key" }}
          inputWrapperOrder={["label", "description", "input", "error"]}
        />
      )}
    </>
  );
}

/** Only narrows the events to environments and ids. */
function Only({ draft, onChange, error }: Part & { error?: string }) {
  const environments = useEnvironments();
  const toggle = (id: string, on: boolean) =>
    onChange({ environments: on ? [...draft.environments, id] : draft.environments.filter((each) => each !== id) });
  return (
    <>
      <Checkbox.Group
        label="Only about these environments"
        description="Empty: all. Events that concern no environment are always sent."
        value={draft.environments}
      >
        <Group gap="md" mt={6}>
          {environments.map(({ id, name }) => (
            <Checkbox key={id} size="xs" value={id} label={name} onChange={(event) => toggle(id, event.currentTarget.checked)} />
          ))}
        </Group>
      </Checkbox.Group>
      <TextInput
        label="Only these ids"
        description="Ids or patterns, such as nightly-*; empty for all"
        classNames={{ input: "mono" }}
        value={draft.ids}
        error={error}
        onChange={(event) => onChange({ ids: event.currentTarget.value })}
        inputWrapperOrder={["label", "description", "input", "error"]}
      />
    </>
  );
}
