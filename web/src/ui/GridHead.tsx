import { useSearch } from "@tanstack/react-router";
import { useSetSearch } from "../app/focus";
import { isDrawn, type Part } from "./columns";
import type { Column } from "./Grid";
import styles from "./Grid.module.css";
import { IconChevronDown } from "./icons";
import { nextOrder, opposite } from "./sorting";

interface Props {
  // biome-ignore lint/suspicious/noExplicitAny: the header does not depend on the type of the rows
  columns: Column<any>[];
  template: string;
  part?: Part;
}

/** GridHead has the names of the columns in view. A click on a name sorts the list by that column; the order is part of the address. */
export function GridHead({ columns, template, part }: Props) {
  const { sort } = useSearch({ strict: false }) as { sort?: string };
  const setSearch = useSetSearch();
  const usual = columns.find((column) => column.isUsualOrder)?.sort;
  return (
    <div role="row" tabIndex={-1} aria-rowindex={1} className={styles.head} style={{ gridTemplateColumns: template }}>
      {columns.map((column, position) => {
        if (!isDrawn(position, part)) return null;
        const direction = directionOf(column.sort, sort ?? usual);
        return (
          <div
            role="columnheader"
            tabIndex={-1}
            key={column.key}
            className={styles.header}
            aria-colindex={position + 1}
            aria-sort={direction}
            style={{ gridColumn: position + 1 }}
          >
            {column.sort === undefined ? (
              column.header
            ) : (
              <button
                type="button"
                className={`plain ${styles.order}`}
                data-direction={direction}
                onClick={() => setSearch({ sort: nextOrder(sort ?? usual, column.sort as string) })}
              >
                {column.header}
                <IconChevronDown size={13} aria-hidden="true" />
              </button>
            )}
          </div>
        );
      })}
    </div>
  );
}

/**
 * directionOf returns the direction in which a column sorts the list, or undefined if the list cannot be sorted by it.
 */
function directionOf(own: string | undefined, order: string | undefined): "ascending" | "descending" | "none" | undefined {
  if (own === undefined) return undefined;
  if (order !== own && order !== opposite(own)) return "none";
  return order.startsWith("-") ? "descending" : "ascending";
}
