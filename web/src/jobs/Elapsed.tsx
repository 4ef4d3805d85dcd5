import { useNow } from "../ui/RelativeTime";
import { milliseconds } from "../ui/time";

/** Elapsed shows how long something has been running, every second. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  return <span className="tabular">{milliseconds(Math.max(0, Math.round((now - Date.parse(since)) / 1000) * 1000))}</span>;
}
