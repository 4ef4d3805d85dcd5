import { useEffect, useRef } from "react";
import { clock } from "../api/clock";
import type { Polling } from "./runs";

const interval = 2000;

/**
 * usePolling calls read every two seconds while a run is in flight, and after a fire time until the run appears,
 * because runs send no events. It pauses while the tab is hidden.
 */
export function usePolling({ inFlight, soonest }: Polling, read: () => void): void {
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    if (!inFlight && soonest === undefined) return;
    const wait = inFlight ? interval : Math.max(interval, (soonest as number) - clock.now() + 500);
    const tick = () => {
      if (!document.hidden) latest.current();
      timer = setTimeout(tick, interval);
    };
    let timer = setTimeout(tick, Math.min(wait, 86_400_000));
    return () => clearTimeout(timer);
  }, [inFlight, soonest]);
}
