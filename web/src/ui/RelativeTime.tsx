import { useSyncExternalStore } from "react";
import { clock } from "../api/clock";
import { instant, relative } from "./time";

let now = clock.now();
const listeners = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  ticking ??= setInterval(() => {
    now = clock.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** useNow returns the time, and renders again every `step` seconds. */
export function useNow(step = 1): number {
  return useSyncExternalStore(subscribe, () => {
    if (Math.abs(clock.now() - now) > 2000) now = clock.now(); // the clock stands still without listeners
    return Math.floor(now / (step * 1000)) * step * 1000;
  });
}

function fullTime(at: string): string {
  const { utc, local } = instant(at);
  return `${utc}, ${local} where you are`;
}

/** RelativeTime shows how long ago a time was, or how soon it is; the title has the full time. */
export function RelativeTime({ at, absent = "never" }: { at: string | null | undefined; absent?: string }) {
  const current = useNow();
  if (!at) return <span className="muted">{absent}</span>;
  return (
    <time dateTime={at} title={fullTime(at)} className="tabular">
      {relative(new Date(at).getTime() - current)}
    </time>
  );
}
