import { useRef, useState } from "react";

/** useOnce returns whether an action is in progress, and a function that starts it unless it is. */
export function useOnce<A extends unknown[]>(act: (...args: A) => Promise<unknown>): [boolean, (...args: A) => Promise<void>] {
  const [busy, setBusy] = useState(false);
  const running = useRef(false); // a second click may come before the button is drawn again
  const run = async (...args: A) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    try {
      await act(...args);
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return [busy, run];
}
