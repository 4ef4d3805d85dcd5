import type { Resource } from "../api/kinds";
import { RoleGate } from "../ui/RoleGate";
import { Switch } from "../ui/Switch";
import { useWriter, useWriting } from "../ui/WriteProvider";
import { writable } from "./draft";

/** EnabledSwitch enables and disables a webhook. */
export function EnabledSwitch({ webhook, inGrid, label }: { webhook: Resource<"webhook">; inGrid?: boolean; label?: string }) {
  const writer = useWriter();
  const isWriting = useWriting("webhook", webhook.id);
  const { enabled, name } = webhook.attributes;
  const toggle = () =>
    void writer.attempt({
      kind: "webhook",
      id: webhook.id,
      title: enabled ? `Disable the webhook ${name}` : `Enable the webhook ${name}`,
      done: enabled ? `${name} is disabled.` : `${name} is enabled.`,
      consequences: "Messages that were not sent yet are canceled.",
      confirm: enabled,
      verb: enabled ? "Disable" : undefined,
      final: true,
      change: (current) => ({ ...writable(current ?? webhook.attributes), enabled: !enabled }),
    });
  return (
    <RoleGate needs="ADMIN">
      {(disabled) => (
        <Switch
          label={label}
          aria-label={label ? undefined : `${name} is enabled`}
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
