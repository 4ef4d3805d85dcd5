import { useRef, useState } from "react";
import { parse, stringify } from "../api/json";
import { same } from "./diff";

/** Draft is what somebody typed into a form and has not saved. */
export interface Draft<T> {
  value: T;
  /** base is the form as it was opened, and version the version of the resource at that time. */
  base: T;
  version: string;
  /** at is the time of the last keystroke, in milliseconds. */
  at: number;
}

const prefix = "draft:";

/**
 * Drafts keeps drafts by their place, such as "job:nightly", until they are saved or discarded. The session's storage
 * belongs to one tab: a draft survives a reload, Back and a crash, and two tabs do not disturb each other.
 */
export class Drafts {
  constructor(private readonly storage: Storage | undefined) {}

  read<T>(place: string): Draft<T> | undefined {
    try {
      return (parse(this.storage?.getItem(prefix + place) ?? "null") as Draft<T> | null) ?? undefined;
    } catch {
      return undefined;
    }
  }

  write<T>(place: string, draft: Draft<T> | undefined): void {
    try {
      if (draft) this.storage?.setItem(prefix + place, stringify(draft));
      else this.storage?.removeItem(prefix + place);
    } catch {} // a full storage must not stop people from typing
  }

  /** clear removes all drafts, as when somebody signs out. */
  clear(): void {
    const names = Object.keys(this.storage ?? {}).filter((name) => name.startsWith(prefix));
    for (const name of names) this.storage?.removeItem(name);
  }
}

/** drafts holds the drafts of this tab. */
export const drafts = new Drafts(typeof sessionStorage === "undefined" ? undefined : sessionStorage);

/** typedOn returns the draft after a change, or undefined when the form is again as it was opened. */
export function typedOn<T extends object>(draft: Draft<T> | undefined, opened: Pick<Draft<T>, "base" | "version">, changes: Partial<T>) {
  const { base, version } = draft ?? opened;
  const value = { ...(draft?.value ?? base), ...changes };
  return same(value, base) ? undefined : { value, base, version, at: Date.now() };
}

/** Drafting is a form whose content is a draft. Without one it shows the newest version of its resource. */
export interface Drafting<T> {
  value: T;
  base: T;
  version: string;
  isChanged: boolean;
  /** isOutdated means that somebody changed the resource after the draft was begun. */
  isOutdated: boolean;
  /** restored is the time at which a restored draft was typed. */
  restored?: number;
  change: (changes: Partial<T>) => void;
  discard: () => void;
}

/** Kept is the draft of a place; restored is the time at which it was typed, if it was read from the storage. */
interface Kept<T> {
  place: string;
  draft?: Draft<T>;
  restored?: number;
}

function keptAt<T>(place: string): Kept<T> {
  const draft = drafts.read<T>(place);
  return { place, draft, restored: draft?.at };
}

/** useDraft holds the content of a form. initial is the resource as the form shows it, and version its version. */
export function useDraft<T extends object>(place: string, version: string, initial: T): Drafting<T> {
  const [state, setState] = useState(() => keptAt<T>(place));
  const kept = state.place === place ? state : keptAt<T>(place); // the form may go on with another resource
  if (kept !== state) setState(kept);
  const { draft, restored } = kept;
  const latest = useRef(kept);
  if (latest.current.place !== place) latest.current = kept;
  const put = (next: Draft<T> | undefined) => {
    drafts.write(place, next);
    if (latest.current.place !== place) return; // what was saved meanwhile is no longer shown
    latest.current = { place, draft: next, restored: next && latest.current.restored };
    setState(latest.current);
  };
  return {
    ...(draft ?? { value: initial, base: initial, version }),
    isChanged: draft !== undefined,
    isOutdated: draft !== undefined && draft.version !== version,
    restored,
    change: (changes) => put(typedOn(latest.current.draft, { base: initial, version }, changes)),
    discard: () => put(undefined),
  };
}
