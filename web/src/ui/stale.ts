import type { Kinds } from "../api/kinds";

export const day = 86_400_000;
const staleAfter = 30 * day;

/** days returns a duration in whole days. */
const days = (ms: number) => `${Math.floor(ms / day)} days`;

/** staleness returns the reason why a flag is stale: no service evaluated it for 30 days. It is undefined for other flags. */
export function staleness({ managed, last_evaluated, created_at }: Kinds["flag"], now: number): string | undefined {
  const idle = now - new Date(last_evaluated ?? created_at).getTime();
  if (!managed || idle < staleAfter) return undefined;
  return last_evaluated ? `not evaluated for ${days(idle)}` : `never evaluated since it was created ${days(idle)} ago`;
}
