import type { ReactNode } from "react";
import styles from "./Tag.module.css";

export type Tone = "plain" | "good" | "bad" | "warning";

/** Tag shows a state in a word or two. */
export function Tag({ tone = "plain", title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={styles.tag} data-tone={tone} title={title}>
      {children}
    </span>
  );
}
