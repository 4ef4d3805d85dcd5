import { Button } from "@mantine/core";
import { RoleGate } from "../ui/RoleGate";
import { useWriter } from "../ui/WriteProvider";
import { type Flag, withDefinition } from "./flags";

/** ManageFlag makes a discovered flag managed; it serves the default that the code declared. */
export function ManageFlag({ flag }: { flag: Flag }) {
  const writer = useWriter();
  const manage = () =>
    void writer.attempt({
      kind: "flag",
      id: flag.id,
      title: `Manage ${flag.id}`,
      done: `${flag.id} is managed: services use the values that are set here.`,
      change: (current) => ({ ...withDefinition(current, {}), managed: true }),
    });
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Button size="compact-sm" disabled={disabled} onClick={manage}>
          Manage
        </Button>
      )}
    </RoleGate>
  );
}
