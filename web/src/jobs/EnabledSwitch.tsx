import type { Resource } from "../api/kinds";
import { RoleGate } from "../ui/RoleGate";
import { Switch } from "../ui/Switch";
import { useWriter, useWriting } from "../ui/WriteProvider";
import { writable } from "./draft";

/** EnabledSwitch enables and disables a job. */
export function EnabledSwitch({ job, inGrid, label }: { job: Resource<"job">; inGrid?: boolean; label?: string }) {
  const writer = useWriter();
  const isWriting = useWriting("job", job.id);
  const { enabled } = job.attributes;
  const toggle = () =>
    void writer.attempt({
      kind: "job",
      id: job.id,
      title: enabled ? `Pause ${job.id}` : `Enable ${job.id}`,
      done: enabled ? `${job.id} is paused: it does not fire until it is enabled.` : `${job.id} is enabled.`,
      change: (current) => ({ ...writable(current ?? job.attributes), enabled: !enabled }),
    });
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Switch
          label={label}
          aria-label={label ? undefined : `${job.id} is enabled`}
          checked={enabled}
          disabled={disabled}
          aria-busy={isWriting}
          onChange={toggle}
          tabIndex={inGrid ? -1 : undefined}
        />
      )}
    </RoleGate>
  );
}
