import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, Select, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ApiError } from "../api/client";
import { pathOf } from "../api/kinds";
import { CopyAs } from "../ui/CopyAs";
import { HeaderRows } from "../ui/HeaderRows";
import { useRefusal } from "../ui/RoleGate";
import { useDryRun } from "../ui/useDryRun";
import { asCommand, attributesOf, type Draft, emptyDraft, isCommand, methods } from "./draft";
import styles from "./jobs.module.css";
import { PasteCurl } from "./PasteCurl";
import { Policies } from "./Policies";
import { SchedulePreview } from "./SchedulePreview";
import { examples, zones } from "./schedule";

interface Form {
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
  isNew?: boolean;
  isChanged: boolean;
  /** onSave throws the server's error, which is shown beside the members. */
  onSave: (andRun: boolean) => Promise<void>;
}

/** JobForm edits a job. The server checks it while people type, so that it never refuses a form that looks valid. */
export function JobForm({ draft: given, onChange, isNew, isChanged, onSave }: Form) {
  const draft = { ...emptyDraft, ...given }; // a draft that an older version of the console stored may lack members
  const refusal = useRefusal("MEMBER");
  const isLocked = refusal !== undefined && !isChanged; // what was typed can be copied, even if it cannot be saved
  const [busy, setBusy] = useState<"save" | "run">();
  const [refused, setRefused] = useState<ApiError>();
  const [tried, setTried] = useState(false);
  const attributes = attributesOf(draft);
  const asked = !refusal && isChanged;
  const { failure, warnings } = useDryRun(asked ? { kind: "job", id: draft.id, method: isNew ? "POST" : "PUT", attributes } : undefined);
  const known = failure ?? refused;
  // An empty field of a new form is not shown as a mistake before the first attempt to save.
  const at = (pointer: string, value: unknown = "x") => (isNew && !tried && value === "" ? undefined : known?.at(pointer));
  const of = (name: string, value?: unknown) => at(`/data/attributes/${name}`, value);
  const within = (name: string) => of(name) ?? known?.within(`/data/attributes/${name}`);

  const save = async (andRun: boolean) => {
    setBusy(andRun ? "run" : "save");
    setTried(true);
    setRefused(undefined);
    try {
      await onSave(andRun);
    } catch (problem) {
      setRefused(problem as ApiError);
    } finally {
      setBusy(undefined);
    }
  };
  const text = (name: keyof Draft) => ({
    value: draft[name] as string,
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange({ [name]: event.currentTarget.value }),
  });

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void save(false);
      }}
    >
      <fieldset disabled={isLocked} className={styles.fieldset}>
        <Stack gap="sm">
          {refusal && <Alert variant="light">{refusal}</Alert>}
          {isNew && <PasteCurl onRead={onChange} />}
          {isNew ? (
            <div className={styles.pair}>
              <TextInput label="Id" placeholder="nightly-report" required data-autofocus {...text("id")} error={at("/data/id", draft.id)} />
              <TextInput label="Name" placeholder={draft.id || "Nightly report"} {...text("name")} error={of("name", draft.name)} />
            </div>
          ) : (
            <TextInput label="Name" {...text("name")} error={of("name")} />
          )}
          <TextInput label="Description" {...text("description")} error={of("description")} />
          <Group align="flex-end" gap="xs" wrap="nowrap">
            <TextInput
              label="Schedule"
              description="Five cron fields, a date and time, or now"
              placeholder="30 2 * * *"
              required
              flex={1}
              classNames={{ input: "mono" }}
              {...text("schedule")}
              error={of("schedule", draft.schedule)}
              inputWrapperOrder={["label", "description", "input", "error"]}
            />
            <NativeSelect
              aria-label="Examples of schedules"
              w={130}
              value=""
              data={[{ value: "", label: "Examples" }, ...examples]}
              onChange={(event) => event.currentTarget.value && onChange({ schedule: event.currentTarget.value })}
            />
          </Group>
          <Select
            label="Time zone"
            description="Of the schedule, also when the clock changes"
            data={zones(draft.timezone)}
            searchable
            clearable={draft.timezone !== ""}
            limit={60}
            placeholder="UTC"
            nothingFoundMessage="No such time zone"
            value={draft.timezone || null}
            onChange={(zone) => onChange({ timezone: zone === "UTC" ? "" : (zone ?? "") })}
            error={of("timezone")}
            inputWrapperOrder={["label", "description", "input", "error"]}
          />
          <div className={styles.request}>
            <NativeSelect
              label="Method"
              data={methods}
              value={draft.method}
              onChange={(event) => onChange({ method: event.currentTarget.value as Draft["method"] })}
            />
            <TextInput
              label="URL"
              placeholder="https://reports.example.com/build"
              required
              {...text("url")}
              error={of("configuration/url", draft.url)}
            />
          </div>
          <Text size="sm" fw={500} mb={-6}>
            Headers
          </Text>
          <HeaderRows
            headers={draft.headers}
            onChange={(headers) => onChange({ headers })}
            problem={(index, member) => of(`configuration/headers/${index}/${member}`, draft.headers[index]?.[member])}
            disabled={isLocked}
          />
          <Textarea
            label="Body"
            description="Sent as it is; empty for none"
            rows={5}
            classNames={{ input: "mono" }}
            {...text("body")}
            error={of("configuration/body")}
          />
          <div className={styles.pair}>
            <TextInput
              label="Counts as a success"
              description="A status, or a class such as 2xx"
              {...text("success_status")}
              error={of("configuration/success_status")}
            />
            <NumberInput
              label="Timeout"
              description="Seconds, from connecting to the last byte"
              min={1}
              value={draft.timeout}
              onChange={(timeout) => onChange({ timeout })}
              error={of("configuration/timeout")}
            />
          </div>
          {draft.url.startsWith("https:") && <Certificates draft={draft} onChange={onChange} error={of("configuration/ca_cert")} />}
          <Policies draft={draft} onChange={onChange} problem={within} />
        </Stack>
      </fieldset>
      <Stack gap="md" className={styles.aside}>
        <SchedulePreview schedule={failure?.at("/data/attributes/schedule") ? "" : draft.schedule.trim()} timezone={draft.timezone} />
        <Switch
          label="Enabled"
          description="A paused job can be run by hand"
          disabled={isLocked}
          checked={draft.enabled}
          onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
        />
        {warnings.map((warning) => (
          <Alert key={warning} color="yellow" variant="light" role="status">
            {warning}
          </Alert>
        ))}
        {refused && <Refused failure={refused} />}
        <Group gap="xs">
          <Button type="submit" size="sm" disabled={Boolean(refusal) || !isChanged} loading={busy === "save"}>
            {isNew ? "Create the job" : "Save"}
          </Button>
          <Button
            variant="default"
            size="sm"
            disabled={Boolean(refusal) || (isNew && !isChanged)}
            loading={busy === "run"}
            onClick={() => save(true)}
          >
            {isNew || isChanged ? "Save and run now" : "Run now"}
          </Button>
        </Group>
        <Group>
          <CopyAs
            method={isNew ? "POST" : "PUT"}
            path={pathOf("job", isNew ? undefined : draft.id)}
            body={{ data: { type: "job", id: draft.id, attributes } }}
            cli={isNew && isCommand(draft) ? asCommand(draft) : undefined}
          />
        </Group>
      </Stack>
    </form>
  );
}

function Certificates({ draft, onChange, error }: Pick<Form, "draft" | "onChange"> & { error?: string }) {
  return (
    <>
      <Checkbox
        label="Verify the receiver's certificate"
        checked={draft.tls_verify}
        onChange={(event) => onChange({ tls_verify: event.currentTarget.checked })}
      />
      {draft.tls_verify && (
        <Textarea
          label="CA certificate"
          description="PEM, for receivers with a certificate of your own authority"
          rows={2}
          classNames={{ input: "mono" }}
          value={draft.ca_cert}
          onChange={(event) => onChange({ ca_cert: event.currentTarget.value })}
          error={error}
        />
      )}
    </>
  );
}

// Refused repeats the messages of an error beside the button, because the field may be out of view.
function Refused({ failure }: { failure: ApiError }) {
  return (
    <Alert color="red" variant="light" role="alert" title={failure.code === "unknown" ? "No answer" : "Nothing was saved"}>
      <Text size="sm">{failure.message}</Text>
      {failure.status >= 500 && failure.requestId && <Text size="xs">Request {failure.requestId}</Text>}
    </Alert>
  );
}
