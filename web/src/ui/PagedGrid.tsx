import type { ReactElement } from "react";
import { Grid, type GridProps } from "./Grid";
import { ErrorState, Loading } from "./states";
import { Tag } from "./Tag";

interface Counted {
  total: number;
  isPending: boolean;
  error: unknown;
}

/** Total shows how many rows a list has, or nothing if that is not known. */
export function Total({ of: { total, isPending, error } }: { of: Counted }) {
  if (error && total === 0) return null;
  return <Tag>{isPending ? "…" : total}</Tag>;
}

interface Props<T> extends Omit<GridProps<T>, "count" | "at" | "onRange"> {
  /** pages is the result of usePages. */
  pages: Counted & {
    at: (index: number) => T | undefined;
    onRange: (from: number, to: number) => void;
    refetch: () => unknown;
  };
  /** empty is shown when there is no row. */
  empty: ReactElement;
}

/** PagedGrid shows a list that is read page by page. */
export function PagedGrid<T>({ pages: { total, at, onRange, isPending, error, refetch }, empty, ...grid }: Props<T>) {
  if (isPending) return <Loading rows={14} />;
  if (error && total === 0) return <ErrorState error={error} retry={refetch} />;
  if (total === 0) return empty;
  return <Grid {...grid} count={total} at={at} onRange={onRange} />;
}
