import type { Level } from "../api/kinds";
import styles from "./LevelPill.module.css";

export const levels: Level[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "SILENT"];

/** LevelPill shows a level in its color; faint is for a level that is inherited. */
export function LevelPill({ level, faint }: { level: Level; faint?: boolean }) {
  return (
    <span className={styles.pill} data-level={level} data-faint={faint || undefined}>
      {level}
    </span>
  );
}
