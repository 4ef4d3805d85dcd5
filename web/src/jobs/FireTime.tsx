import { clock } from "../api/clock";
import { RelativeTime } from "../ui/RelativeTime";
import { instant, zoned } from "./schedule";

/** FireTime shows when a job fires next: how soon, and the time in UTC; the title has the local time and the time in the job's zone. */
export function FireTime({ at, absent, zone }: { at: string | null; absent: string; zone?: string | null }) {
  if (!at) return <span className="muted">{absent}</span>;
  const { utc, local } = instant(at);
  const there = zone ? zoned(at, zone) : undefined;
  return (
    <span title={`${there ? `${there}, ` : ""}${local} where you are, ${utc}`}>
      <RelativeTime at={at} /> <span className="muted tabular">{shortly(at, utc)}</span>
    </span>
  );
}

// shortly leaves the date out when it is today's.
function shortly(at: string, utc: string): string {
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  return at.startsWith(today) ? utc.slice(11) : utc;
}
