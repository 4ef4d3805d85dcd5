import { useMemo } from "react";
import { written } from "../ui/diff";
import styles from "./Sides.module.css";
import { folded, type Line, sideBySide } from "./sides";

const configured = (document: unknown) => (document === null || document === undefined ? null : written(document));

/** Sides shows a resource before and after a change, side by side. */
export function Sides({ before, after }: { before: unknown; after: unknown }) {
  const lines = useMemo(() => folded(sideBySide(configured(before), configured(after))), [before, after]);
  return (
    <div className={styles.frame}>
      <table className={styles.sides}>
        <thead>
          <tr>
            <th scope="col">{before ? "Before" : "Before: did not exist"}</th>
            <th scope="col">{after ? "After" : "After: deleted"}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) =>
            "folded" in line ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines never move
              <tr key={index} className={styles.fold}>
                <td colSpan={2}>{line.folded} lines are alike</td>
              </tr>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines never move
              <Row key={index} line={line} />
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Row({ line: { left, right, changed } }: { line: Line }) {
  return (
    <tr>
      <td data-removed={(changed && left !== undefined) || undefined} data-none={left === undefined || undefined}>
        {left}
      </td>
      <td data-added={(changed && right !== undefined) || undefined} data-none={right === undefined || undefined}>
        {right}
      </td>
    </tr>
  );
}
