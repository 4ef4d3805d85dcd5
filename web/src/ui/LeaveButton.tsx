import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Kind } from "../api/kinds";
import { RoleGate } from "./RoleGate";
import type { Write } from "./requests";
import { useOnce } from "./useOnce";
import { useWriter } from "./WriteProvider";

interface Props<K extends Kind> {
  write: Write<K>;
  /** to is the list that is shown afterward. */
  to: string;
  /** kept is the reason why the write is not possible; the button is then disabled. */
  kept?: string;
  children: string;
}

/** LeaveButton attempts a write that removes the page's resource, and then goes to the list. */
export function LeaveButton<K extends Kind>({ write, to, kept, children }: Props<K>) {
  const writer = useWriter();
  const navigate = useNavigate();
  const [busy, leave] = useOnce(async () => {
    if (await writer.attempt(write)) await navigate({ to: to as never });
  });
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Button size="compact-sm" variant="default" disabled={disabled || kept !== undefined} title={kept} aria-busy={busy} onClick={leave}>
          {children}
        </Button>
      )}
    </RoleGate>
  );
}
