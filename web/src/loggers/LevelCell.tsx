import type { Environment } from "../api/session";
import { IconHourglass } from "../ui/icons";
import { LevelPill } from "../ui/LevelPill";
import { useNow } from "../ui/RelativeTime";
import { clock, relative } from "../ui/time";
import styles from "./LevelCell.module.css";
import { type Confirmation, confirmationIn, type Effective, effectiveIn, type Logger, originOf, originSentence } from "./levels";

interface Cell {
  id: string;
  logger?: Logger;
  environment: Environment;
  onPick: (anchor: HTMLElement) => void;
}

/** LevelCell shows the level of a logger in an environment, where it comes from, and whether services confirm it. */
export function LevelCell({ id, logger, environment, onPick }: Cell) {
  const effective = logger && effectiveIn(logger.attributes, environment.id);
  const confirmation = logger && confirmationIn(logger.attributes, environment.id);
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        className={`plain ${styles.pick}`}
        onClick={(event) => onPick(event.currentTarget)}
        aria-label={`Level of ${id} in ${environment.name}: ${effective ? `${effective.level} ${originOf(effective)}` : environment.managed ? "set…" : "frozen"}`}
        title={
          effective
            ? originSentence(effective, environment.name)
            : environment.managed
              ? "No level is known here. Click to set one."
              : `${environment.name} is not managed: its values are frozen.`
        }
      >
        {effective ? (
          <LevelPill level={effective.level} faint={!isOwn(effective)} />
        ) : (
          <span className={styles.none}>{environment.managed ? "set…" : "frozen"}</span>
        )}{" "}
        {effective && <span className={styles.origin}>{originOf(effective)}</span>}
      </button>
      {effective?.expiresAt && <TimeLeft at={effective.expiresAt} />}
      {confirmation && <Confirmed confirmation={confirmation} watched={effective?.expiresAt !== undefined} />}
    </>
  );
}

const isOwn = ({ origin }: Effective) => origin === "environment" || origin === "base";

/** TimeLeft counts down to the end of a temporary level. */
export function TimeLeft({ at }: { at: string }) {
  const left = new Date(at).getTime() - useNow();
  return (
    <span className={styles.left} title={`Ends ${new Date(at).toLocaleString()}`}>
      <IconHourglass size={13} aria-hidden="true" />
      <span className="visually-hidden">ends in </span>
      {clock(left)}
    </span>
  );
}

function Confirmed({ confirmation: { applied, total, others }, watched }: { confirmation: Confirmation; watched: boolean }) {
  const now = useNow(5);
  if (others.length === 0 && !watched) return null;
  const since = (lastSeen: string | null) => (lastSeen ? relative(new Date(lastSeen).getTime() - now) : "never");
  const lines = others.map(({ service, level, lastSeen }) => `${service} still ${level} (${since(lastSeen)})`);
  const title = lines.join("\n") || `All ${total} services that report from this environment use it.`;
  return (
    <span className={styles.confirmed} data-pending={others.length > 0 || undefined} title={title}>
      {applied}/{total} applied
    </span>
  );
}
