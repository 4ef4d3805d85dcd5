import type { Kinds } from "../api/kinds";

export const day = 86_400_000;
const staleAfter = 30 * day;

/** days says how many whole days a time has. */
const days = (ms: number) => `${Math.floor(ms / day)} days`;

/** staleness says why a flag looks stale: no service evaluated it for 30 days. It is undefined for one that does not. */
export function staleness({ managed, last_evaluated, created_at }: Kinds["flag"], now: number): string | undefined {
  const idle = now - new Date(last_evaluated ?? created_at).getTime();
  if (!managed || idle < staleAfter) return undefined;
  return last_evaluated ? `not evaluated for ${days(idle)}` : `never evaluated since it was made ${days(idle)} ago`;
}
