// `fractional`, which splits users.

import { type Evaluate, nullValue, type State, stateOf } from "./evaluation.js";
import { murmur3 } from "./murmur3.js";
import type { Compiler, Node } from "./rules.js";
import { isObject } from "./values.js";

const MAX_INT32 = 2 ** 31 - 1;

/** A valid list of buckets: variants and where each ends. */
class Split {
  constructor(
    private readonly variants: readonly unknown[],
    private readonly ends: readonly number[],
  ) {}

  /** Chooses a variant by the hash of a text, or of the flag's key and the targeting key. */
  pick(st: State, flagKey: string, by: unknown): unknown {
    let hashed = by;
    if (typeof by !== "string") {
      const key = targetingKey(st.root);
      if (typeof key !== "string" || key === "") {
        return null;
      }
      hashed = flagKey + key;
    }
    st.split = true;
    const place = scaled(murmur3(hashed as string), this.ends.at(-1) as number);
    return this.variants[this.ends.findIndex((end) => place < end)];
  }
}

/** Returns hash * total / 2^32, rounded down. A product of more than 53 bits needs a BigInt. */
function scaled(hash: number, total: number): number {
  return total < 2 ** 21 ? Math.floor((hash * total) / 2 ** 32) : Number((BigInt(hash) * BigInt(total)) >> 32n);
}

/** Returns `targetingKey` of the data, else `user.key`; a number as text. */
function targetingKey(data: unknown): unknown {
  if (!isObject(data)) {
    return undefined;
  }
  let key = own(data, "targetingKey");
  if (key === undefined || key === null) {
    const user = own(data, "user");
    key = isObject(user) ? own(user, "key") : undefined;
  }
  return typeof key === "number" ? String(key) : key;
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Checks buckets as flagd does: a scalar variant, an integer weight (default 1, negative is 0), a sum of 31 bits. */
function newSplit(items: readonly unknown[]): Split | undefined {
  const variants: unknown[] = [];
  const ends: number[] = [];
  let total = 0;
  for (const each of items) {
    if (!Array.isArray(each) || each.length === 0 || (typeof each[0] === "object" && each[0] !== null)) {
      return undefined;
    }
    const weight: unknown = each[1] ?? 1;
    if (typeof weight !== "number" || !(weight <= MAX_INT32) || (Number.isFinite(weight) && !Number.isInteger(weight))) {
      return undefined;
    }
    total += Math.max(weight, 0);
    variants.push(each[0] ?? null);
    ends.push(total);
  }
  return total > 0 && total <= MAX_INT32 ? new Split(variants, ends) : undefined;
}

/** Picks a weighted variant by a hash: a key always gets the same variant. */
export function compileFractional(c: Compiler, node: Node): Evaluate {
  const args = node.args.map((each) => c.value(each));
  const { flagKey } = c;
  const computed: Evaluate = (st, data) => {
    const items = args.map((each) => each(st, data));
    const keyed = items.length > 0 && (typeof items[0] === "string" || items[0] === null);
    const split = newSplit(keyed ? items.slice(1) : items);
    return split ? split.pick(stateOf(st), flagKey, keyed ? items[0] : undefined) : null;
  };
  const whole = fixedSplit(node.args);
  if (whole) {
    return fixedFractional(nullValue, whole, computed, flagKey);
  }
  const rest = args[0] ? fixedSplit(node.args.slice(1)) : undefined;
  return rest && args[0] ? fixedFractional(args[0], rest, computed, flagKey) : computed;
}

function fixedSplit(args: readonly Node[]): Split | undefined {
  return args.every((each) => each.isScalarList()) ? newSplit(args.map((each) => each.value)) : undefined;
}

/** The common case, where all arguments but the first are literal buckets. The first is the key to hash if it is a text or
 * null; else it may be one more bucket. */
function fixedFractional(by: Evaluate, fixed: Split, computed: Evaluate, flagKey: string): Evaluate {
  return (st, data) => {
    const key = by(st, data);
    return key !== null && typeof key !== "string" ? computed(st, data) : fixed.pick(stateOf(st), flagKey, key);
  };
}
