import type { Column } from "./Grid";

type Optional = Pick<Column<never>, "key" | "option">;

/** none stands in the address for a choice without any optional column; an empty text would mean the usual columns. */
const none = "-";

/** isChosen reports whether a list shows a column: always, or if the address names it, or if the address names none and the column is usual. */
export function isChosen({ key, option }: Optional, chosen: string | undefined): boolean {
  if (!option) return true;
  return chosen === undefined ? !option.isHidden : chosen.split(",").includes(key);
}

/** choiceOf returns the choice of optional columns for the address, which is undefined for the usual ones. */
export function choiceOf(columns: Optional[], keys: ReadonlySet<string>): string | undefined {
  const optional = columns.filter(({ option }) => option);
  if (optional.every(({ key, option }) => keys.has(key) === !option?.isHidden)) return undefined;
  const shown = optional.filter(({ key }) => keys.has(key)).map(({ key }) => key);
  return shown.join(",") || none;
}
