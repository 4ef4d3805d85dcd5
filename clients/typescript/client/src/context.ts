// Contexts: the things that the rules of flags read, such as the user of a request.

import { AsyncLocalStorage } from "node:async_hooks";
import { isObject, type Members, normalize, weightOf } from "./values.js";

/** A context: its key and attributes, or the key alone. Values are anything with a JSON form. */
export type Context = string | object;

/** Contexts by their types: `{ user: { key: "alice", plan: "pro" }, account: "acme" }`. */
export type Contexts = Readonly<Record<string, Context>>;

/** The box that contexts are prepared for: it adds the service, and reports the contexts. */
export interface ContextOwner {
  readonly serviceContext: Members;
  sawContexts(types: Members): void;
}

/** Contexts that are prepared once for all flags of a box. */
export class Prepared {
  owner: ContextOwner | undefined;
  /** What rules read: the contexts and the service. */
  data: Members = {};
  weight = 0;

  constructor(readonly types: Members) {}

  /** Returns the contexts for the rules of a box. */
  boundTo(owner: ContextOwner): Prepared {
    const bound = this.owner === undefined ? this : new Prepared(this.types);
    bound.owner = owner;
    bound.data = { ...owner.serviceContext, ...this.types };
    bound.weight = weightOf(bound.data);
    owner.sawContexts(this.types);
    return bound;
  }
}

// One store for the process: bundlers, such as that of Next.js, put a copy of this module into each of their bundles.
const STORE = Symbol.for("signalbox.contexts.1");
const shared = globalThis as { [STORE]?: AsyncLocalStorage<Prepared> };
shared[STORE] ??= new AsyncLocalStorage();
const storage = shared[STORE];

/** Returns the contexts that apply. */
export function current(): Prepared | undefined {
  return storage.getStore();
}

/** Returns contexts over those that apply already. */
export function prepared(contexts: Contexts): Prepared {
  const types: Members = { ...storage.getStore()?.types };
  for (const [name, each] of Object.entries(contexts ?? {})) {
    const context = typeof each === "string" ? { key: each } : normalize(each);
    if (isObject(context)) {
      types[name] = context;
    }
  }
  return new Prepared(types);
}

/** Calls a function. In it, and in everything that it awaits or starts, flags are evaluated for the contexts. Contexts
 * of other types that already apply stay.
 *
 *     withContext({ user: { key: "alice", plan: "pro" } }, () => { if (checkout()) … })
 */
export function withContext<T>(contexts: Contexts, run: () => T): T {
  return storage.run(prepared(contexts), run);
}

/** Evaluates flags for contexts from here to the end of the asynchronous task. Use it where a function cannot be passed, such
 * as in a hook that a framework calls. */
export function setContext(contexts: Contexts): void {
  storage.enterWith(prepared(contexts));
}
