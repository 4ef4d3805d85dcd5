/** Order is a field of a list by which it is ordered; "-" before it is descending. */
export type Order = string;

/** opposite returns the same order, the other way round. */
export const opposite = (order: Order): Order => (order.startsWith("-") ? order.slice(1) : `-${order}`);

/** fieldOf returns the field of an order. */
export const fieldOf = (order: Order): string => order.replace(/^-/, "");

/** nextOrder returns the order after a click on a column: the column's own, then its opposite, then the usual one, which is undefined. */
export function nextOrder(current: Order | undefined, own: Order): Order | undefined {
  if (current === own) return opposite(own);
  return current === opposite(own) ? undefined : own;
}

/** Values returns, for each field, the value by which a row is sorted. */
export type Values<T> = Record<string, (row: T) => string | number | null | undefined>;

const texts = new Intl.Collator(undefined, { numeric: true });

/** ordered sorts rows that are all loaded; rows without a value come last. An order without values keeps the rows as they are. */
export function ordered<T>(rows: T[], order: Order | undefined, values: Values<T>): T[] {
  const value = order && values[fieldOf(order)];
  if (!value) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one) ?? undefined, value(other) ?? undefined];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : texts.compare(String(a), String(b)));
  });
}
