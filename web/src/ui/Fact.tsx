import type { ReactNode } from "react";
import styles from "./Fact.module.css";

/** Facts is a list of labels with values: a panel, or plain within one. */
export function Facts({ plain, children }: { plain?: boolean; children: ReactNode }) {
  return <dl className={plain ? styles.facts : `panel ${styles.facts}`}>{children}</dl>;
}

/** Fact is a label with a value in a list of facts. */
export function Fact({ label, wide, children }: { label: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={wide ? `${styles.fact} ${styles.wide}` : styles.fact}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
