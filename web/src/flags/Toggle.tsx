import type { Environment } from "../api/session";
import { RoleGate } from "../ui/RoleGate";
import { Switch } from "../ui/Switch";
import { useWriter, useWriting } from "../ui/WriteProvider";
import { type Flag, withSettings } from "./flags";

interface Props {
  flag: Flag;
  environment: Environment;
  label?: string;
  /** frozen shows the state without a way to change it. */
  frozen?: boolean;
}

/** Toggle switches a flag on or off in an environment. */
export function Toggle({ flag, environment, label, frozen = false }: Props) {
  const writer = useWriter();
  const isWriting = useWriting("flag", flag.id);
  const isOn = flag.attributes.environments[environment.id]?.enabled ?? true;
  const toggle = () =>
    void writer.attempt({
      kind: "flag",
      id: flag.id,
      title: `Switch ${flag.id} ${isOn ? "off" : "on"} in ${environment.name}`,
      done: `${flag.id} is ${isOn ? "off" : "on"} in ${environment.name}.`,
      environments: [environment.id],
      change: (current) => withSettings(current, environment.id, (settings) => ({ ...settings, enabled: !isOn })),
    });
  return (
    <RoleGate needs="MEMBER" environment={environment.id}>
      {(disabled) => (
        <Switch
          tabIndex={label ? 0 : -1}
          checked={isOn}
          disabled={disabled || frozen}
          aria-busy={isWriting}
          onChange={toggle}
          label={label}
          aria-label={label ?? `${flag.id} in ${environment.name}`}
        />
      )}
    </RoleGate>
  );
}
