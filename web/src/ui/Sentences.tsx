import type { Sentence } from "../api/kinds";
import { Diff } from "./Diff";
import styles from "./Diff.module.css";

interface Props {
  /** summary has the server's sentences about the change. */
  summary?: Sentence[];
  before: unknown;
  after: unknown;
}

/** Sentences says what a change does. Its members are one click away, or shown at once if there are no sentences. */
export function Sentences({ summary = [], before, after }: Props) {
  if (summary.length === 0) return <Diff before={before} after={after} />;
  return (
    <div>
      <SentenceList summary={summary} />
      <details className={styles.details}>
        <summary>Details</summary>
        <Diff before={before} after={after} />
      </details>
    </div>
  );
}

/** SentenceList shows sentences, each with the environment in which it holds. */
export function SentenceList({ summary }: { summary: Sentence[] }) {
  return (
    <ul className={styles.sentences}>
      {summary.map(({ text, environment, pointer }) => (
        <li key={`${pointer} ${environment} ${text}`}>
          {environment && <b>{environment}: </b>}
          {text}
        </li>
      ))}
    </ul>
  );
}

/** Note shows why somebody made a change. */
export function Note({ note }: { note?: string | null }) {
  return note ? <p className={styles.note}>Why: {note}</p> : null;
}
