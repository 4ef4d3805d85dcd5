import type { ReactElement } from "react";
import { type Role, wordFor } from "../api/kinds";
import { useLive } from "../api/live";
import { refusalFor, useMe } from "../api/session";
import { useApp } from "../app/context";
import { useGone } from "./gone";

/** useRefusal returns the reason why the user cannot write now, or undefined. */
export function useRefusal(needs: Role, environment?: string): string | undefined {
  const { live } = useApp();
  const me = useMe();
  const { status } = useLive(live);
  const gone = useGone();
  if (gone) return `This ${wordFor(gone.kind)} was deleted.`;
  if (status === "offline") return "The server cannot be reached; nothing can be changed now.";
  return refusalFor(me.session.attributes, needs, environment);
}

interface Gate {
  needs: Role;
  environment?: string;
  children: (disabled: boolean) => ReactElement;
}

/** RoleGate renders a control, disabled with the reason when the user may not use it. */
export function RoleGate({ needs, environment, children }: Gate) {
  const refusal = useRefusal(needs, environment);
  if (!refusal) return children(false);
  return <span title={refusal}>{children(true)}</span>;
}
