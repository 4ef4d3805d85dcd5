import type { ReactElement, ReactNode } from "react";
import { refusalFor, useMe } from "../api/session";
import { EmptyState } from "../ui/states";

/**
 * AdminOnly shows its children to admins, and to others the reason why they cannot see webhooks: webhooks
 * send events of the account to other systems. With a head it fills a whole screen.
 */
export function AdminOnly({ head, children }: { head?: ReactNode; children: () => ReactElement }) {
  const refusal = refusalFor(useMe().session.attributes, "ADMIN");
  if (!refusal) return children();
  const reason = (
    <EmptyState title={refusal}>Webhooks tell other systems what happens in the account. Ask somebody with the role Admin.</EmptyState>
  );
  if (!head) return reason;
  return (
    <main className="screen">
      {head}
      {reason}
    </main>
  );
}
