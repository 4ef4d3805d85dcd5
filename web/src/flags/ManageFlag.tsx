import { Button } from "@mantine/core";
import { RoleGate } from "../ui/RoleGate";
import { useWriter } from "../ui/WriteProvider";
import { type Flag, withDefinition } from "./flags";

/** ManageFlag makes a discovered flag a managed one that serves what the code declared. */
export function ManageFlag({ flag }: { flag: Flag }) {
  const writer = useWriter();
  const manage = () =>
    void writer.attempt({
      kind: "flag",
      id: flag.id,
      title: `Manage ${flag.id}`,
      done: `${flag.id} is managed: services follow what is set here.`,
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
