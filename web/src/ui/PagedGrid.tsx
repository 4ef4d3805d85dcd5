import type { ReactElement } from "react";
import { Grid, type GridProps } from "./Grid";
import { ErrorState, Loading } from "./states";

interface Props<T> extends Omit<GridProps<T>, "count" | "at" | "onRange"> {
  /** pages is the result of usePages. */
  pages: {
    total: number;
    at: (index: number) => T | undefined;
    onRange: (from: number, to: number) => void;
    isPending: boolean;
    error: unknown;
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
