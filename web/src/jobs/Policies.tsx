import { Checkbox, NativeSelect, NumberInput, Text, TextInput } from "@mantine/core";
import { type AlertsDraft, type Draft, emptyAlerts, emptyRetry, type RetryDraft } from "./draft";
import styles from "./jobs.module.css";
import { overlaps, type RetryReason, retryReasons } from "./policies";

interface Props {
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
  /** problem returns the problem with a member, such as "retry/max_attempts". */
  problem: (member: string) => string | undefined;
}

/** Policies edits what happens when runs overlap or fail, and when alerts are sent. */
export function Policies({ draft, onChange, problem }: Props) {
  return (
    <>
      <NativeSelect
        label="While an earlier run has not ended"
        data={overlaps}
        value={draft.overlap}
        onChange={(event) => onChange({ overlap: event.currentTarget.value as Draft["overlap"] })}
        error={problem("overlap")}
      />
      <Checkbox
        label="Attempt failed runs again"
        description="If off, a run is attempted at most once"
        checked={draft.retry !== null}
        onChange={(event) => onChange({ retry: event.currentTarget.checked ? emptyRetry : null })}
      />
      {draft.retry && <Retry retry={draft.retry} onChange={(retry) => onChange({ retry })} problem={problem} />}
      <Checkbox
        label="Tell when the job is failing, late or recovered"
        description="If off, the console still shows the job's health"
        checked={draft.alerts !== null}
        onChange={(event) => onChange({ alerts: event.currentTarget.checked ? emptyAlerts : null })}
      />
      {draft.alerts && <Alerts alerts={draft.alerts} onChange={(alerts) => onChange({ alerts })} problem={problem} />}
    </>
  );
}

interface RetryProps {
  retry: RetryDraft;
  onChange: (retry: RetryDraft) => void;
  problem: Props["problem"];
}

function Retry({ retry, onChange, problem }: RetryProps) {
  const change = (changes: Partial<RetryDraft>) => onChange({ ...retry, ...changes });
  const number = (name: "max_attempts" | "delay_seconds" | "max_delay_seconds") => ({
    size: "xs" as const,
    value: retry[name],
    onChange: (value: number | string) => change({ [name]: value }),
    error: problem(`retry/${name}`),
  });
  return (
    <div className={styles.policy} role="group" aria-label="Retries">
      <NumberInput label="Attempts" description="2 to 10, including the first" min={2} max={10} {...number("max_attempts")} />
      <NumberInput label="Delay" description="Seconds before the second attempt" min={1} {...number("delay_seconds")} />
      <NativeSelect
        size="xs"
        label="Further delays"
        description="With 10 % of jitter"
        data={[
          { value: "exponential", label: "Double each time" },
          { value: "fixed", label: "Stay the same" },
        ]}
        value={retry.backoff}
        onChange={(event) => change({ backoff: event.currentTarget.value as RetryDraft["backoff"] })}
      />
      <NumberInput label="Longest delay" description="Seconds, also for Retry-After" min={1} {...number("max_delay_seconds")} />
      <div className={styles.policywide}>
        <Text size="xs" fw={500} mb={4}>
          Attempt again after
        </Text>
        <Reasons on={retry.on} onChange={(on) => change({ on })} />
        {problem("retry/on") && (
          <Text size="xs" c="red" role="alert">
            {problem("retry/on")}
          </Text>
        )}
      </div>
      {retry.on.includes("NON_SUCCESS_STATUS") && (
        <TextInput
          className={styles.policywide}
          size="xs"
          label="HTTP statuses"
          description="Statuses such as 503, or classes such as 5xx"
          value={retry.statuses}
          onChange={(event) => change({ statuses: event.currentTarget.value })}
          error={problem("retry/statuses")}
        />
      )}
    </div>
  );
}

function Reasons({ on, onChange }: { on: RetryReason[]; onChange: (on: RetryReason[]) => void }) {
  const toggle = (reason: RetryReason) => onChange(on.includes(reason) ? on.filter((each) => each !== reason) : [...on, reason]);
  return (
    <div className={styles.reasons}>
      {retryReasons.map(({ value, label }) => (
        <Checkbox key={value} size="xs" label={label} checked={on.includes(value)} onChange={() => toggle(value)} />
      ))}
    </div>
  );
}

interface AlertsProps {
  alerts: AlertsDraft;
  onChange: (alerts: AlertsDraft) => void;
  problem: Props["problem"];
}

const alertFields: { name: keyof AlertsDraft; label: string; description: string }[] = [
  { name: "after_failures", label: "Failing after", description: "Failures in a row" },
  { name: "recover_after", label: "Recovered after", description: "Successes in a row" },
  { name: "late_after_seconds", label: "Late after", description: "Seconds without a start; empty: never" },
  { name: "no_success_for_seconds", label: "Late without a success for", description: "Seconds; empty: any time" },
  { name: "remind_every_seconds", label: "Remind every", description: "Seconds; empty: never" },
];

function Alerts({ alerts, onChange, problem }: AlertsProps) {
  return (
    <div className={styles.policy} role="group" aria-label="Alerts">
      {alertFields.map(({ name, label, description }) => (
        <NumberInput
          key={name}
          size="xs"
          label={label}
          description={description}
          min={1}
          value={alerts[name]}
          onChange={(value) => onChange({ ...alerts, [name]: value })}
          error={problem(`alerts/${name}`)}
        />
      ))}
    </div>
  );
}
