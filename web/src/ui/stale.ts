import type { Kinds } from "../api/kinds";

export const day = 86_400_000;

type Stale = NonNullable<Kinds["flag"]["stale"]>;

const reasons: Record<Stale["reason"], string> = {
  not_declared: "not used by any service",
  not_evaluated: "declared but not evaluated",
  one_value: "one value everywhere, unchanged",
};

/** staleText returns why a flag is stale, in words. */
export function staleText({ reason, since }: Stale, now: number): string {
  return `${reasons[reason]} for ${Math.floor((now - Date.parse(since)) / day)} days`;
}
