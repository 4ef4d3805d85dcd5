import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { isChosen } from "./chosen";
import type { Column } from "./Grid";

/** useChosen returns the columns of a list that its address chooses; Columns is where people choose them. */
export function useChosen<T>(columns: Column<T>[]): Column<T>[] {
  const { columns: chosen } = useSearch({ strict: false }) as { columns?: string };
  return useMemo(() => columns.filter((column) => isChosen(column, chosen)), [columns, chosen]);
}
