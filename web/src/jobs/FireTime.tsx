import { clock } from "../api/clock";
import { RelativeTime } from "../ui/RelativeTime";
import { instant } from "../ui/time";
import { zoned } from "./schedule";

interface Props {
  at: string | null;
  absent: string;
  zone?: string | null;
  /** full shows the local time and the time in the job's zone as well, which are otherwise in the title. */
  full?: boolean;
}

/** FireTime shows when a job fires next: how soon, and the time in UTC. */
export function FireTime({ at, absent, zone, full }: Props) {
  if (!at) return <span className="muted">{absent}</span>;
  const { utc, local } = instant(at);
  const others = [zone ? zoned(at, zone) : undefined, `${local} where you are`].filter((time) => time !== undefined);
  return (
    <span title={[...others, utc].join(", ")}>
      <RelativeTime at={at} /> <span className="muted tabular">{shortly(at, utc)}</span>
      {full && others.map((time) => <Other key={time} time={time} day={utc.slice(0, 10)} />)}
    </span>
  );
}

// Other leaves the date out when it is that of the time in UTC.
function Other({ time, day }: { time: string; day: string }) {
  return <div className="muted tabular">{time.startsWith(day) ? time.slice(11) : time}</div>;
}

// shortly leaves the date out when it is today's.
function shortly(at: string, utc: string): string {
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  return at.startsWith(today) ? utc.slice(11) : utc;
}
