import { useEffect, useState } from "react";

type InWords = (schedule: string, zone?: string | null) => string;

let inWords: InWords | undefined;
let loading: Promise<void> | undefined;

const load = () =>
  import("./inwords").then(
    (module) => {
      inWords = module.inWords;
    },
    () => {
      loading = undefined; // the next component tries again
    },
  );

const asWritten: InWords = (schedule) => schedule;

/** useInWords returns a function that says schedules in words. Until the library for it is loaded, it returns schedules unchanged, so that no screen waits. */
export function useInWords(): InWords {
  const [, setArrived] = useState(inWords !== undefined);
  useEffect(() => {
    if (inWords) return;
    loading ??= load();
    void loading.then(() => setArrived(true));
  }, []);
  return inWords ?? asWritten;
}
