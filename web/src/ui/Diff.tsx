import styles from "./Diff.module.css";
import { differences, short, written } from "./diff";

/** Diff shows a change of a resource, one line for each member. */
export function Diff({ before, after }: { before: unknown; after: unknown }) {
  const found = differences(written(before), written(after));
  if (found.length === 0) return <p className={styles.same}>No setting changes.</p>;
  return (
    <table className={styles.diff}>
      <tbody>
        {found.map(({ path, before, after }) => (
          <tr key={path.join("/")}>
            <th scope="row">{path.join(" › ")}</th>
            <td>
              {before !== undefined && <del title={short(before, 2000)}>{short(before)}</del>}
              {before !== undefined && after !== undefined && <span aria-hidden="true"> → </span>}
              {after !== undefined && <ins title={short(after, 2000)}>{short(after)}</ins>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
