import styles from "./jobs.module.css";
import { type Status as RunStatus, statusWord } from "./runs";

/** Status shows the status of a run: a colored dot and a word. */
export function Status({ status, more }: { status: RunStatus; more?: string }) {
  return (
    <span className={styles.status} data-status={status}>
      {statusWord(status)}
      {more && <span className="muted">{more}</span>}
    </span>
  );
}
