/**
 * Feature flags of Signalbox in React:
 *
 *     const box = startBrowser({ url: "https://signalbox.example.com", key: "sk_api_…", context: { targetingKey: "alice" } });
 *     <SignalboxProvider box={box}><Shop /></SignalboxProvider>
 *
 *     const checkout = useFlag("checkout-v2", false);
 *
 * A component is rendered again when the value of its flag changes, and only then.
 */

import type { BrowserBox, State } from "@signalbox/client/browser";
import { createContext, createElement, type ReactElement, type ReactNode, useCallback, useContext, useSyncExternalStore } from "react";

const BoxContext = createContext<BrowserBox | undefined>(undefined);

/** Gives the components inside of it the flags of a box. Without a box, they have the defaults of the code. */
export function SignalboxProvider({ box, children }: { box?: BrowserBox | undefined; children?: ReactNode }): ReactElement {
  return createElement(BoxContext.Provider, { value: box }, children);
}

/** Returns the box of the nearest SignalboxProvider; undefined if there is none. */
export function useSignalbox(): BrowserBox | undefined {
  return useContext(BoxContext);
}

type Widened<T> = T extends boolean ? boolean : T extends number ? number : T extends string ? string : T;

/** Returns the value of a flag, whose type is that of the default. On the server it is the default. Objects and lists are JSON
 * flags. */
export function useFlag<T>(key: string, fallback: T): Widened<T> {
  const box = useContext(BoxContext);
  const subscribe = useCallback(
    (changed: () => void) => box?.onChange((keys) => (keys.includes(key) ? changed() : undefined)) ?? (() => undefined),
    [box, key],
  );
  const read = () => (box ? readFlag(box, key, fallback) : fallback);
  return useSyncExternalStore(subscribe, read, () => fallback) as Widened<T>;
}

function readFlag(box: BrowserBox, key: string, fallback: unknown): unknown {
  switch (typeof fallback) {
    case "boolean":
      return box.boolean(key, fallback)();
    case "number":
      return box.number(key, fallback)();
    case "string":
      return box.string(key, fallback)();
    default:
      return box.json(key, fallback)();
  }
}

/** Returns how current the flags are, for a notice such as "offline"; undefined without a box. */
export function useSignalboxState(): State | undefined {
  const box = useContext(BoxContext);
  const subscribe = useCallback((changed: () => void) => box?.onState(changed) ?? (() => undefined), [box]);
  return useSyncExternalStore(
    subscribe,
    () => box?.state,
    () => box?.state,
  );
}
