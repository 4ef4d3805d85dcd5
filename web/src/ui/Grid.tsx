import { useMediaQuery } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { isDrawn, leastWidth, type Part, partInView, scrollFor } from "./columns";
import styles from "./Grid.module.css";
import { GridHead } from "./GridHead";
import { type Cell, move } from "./gridkeys";
import type { Selection } from "./useSelection";

export interface Column<T> {
  key: string;
  header: ReactNode;
  /** width is a track of CSS grid, such as "minmax(220px, 2fr)". */
  width: string;
  cell: (row: T, index: number) => ReactNode;
  /** sort is the order of the list after a click on the header, such as "-updated_at". */
  sort?: string;
  /** isUsualOrder means that the list has this order unless the address names another. */
  isUsualOrder?: boolean;
  /** option lets people hide the column; isHidden hides it until somebody shows it. */
  option?: { label: string; isHidden?: boolean };
}

export interface GridProps<T> {
  label: string;
  columns: Column<T>[];
  count: number;
  /** at returns a row, or undefined while it is loading. */
  at: (index: number) => T | undefined;
  keyOf: (row: T) => string;
  /** onOpen is called for Enter or a click on a row's first cell. */
  onOpen?: (row: T) => void;
  /** onKey handles keys that the grid does not handle, such as the arrows of a tree. It returns whether it handled the key. */
  onKey?: (event: KeyboardEvent, row: T, index: number) => boolean;
  onRange?: (from: number, to: number) => void;
  height?: (row: T) => number;
  /** card shows a row on a narrow screen. */
  card: (row: T) => ReactNode;
  cardHeight?: number;
  dimmed?: (row: T) => boolean;
  /** selection lets people select rows with their boxes or the key x; Shift selects a range. */
  selection?: Selection;
}

const rowHeight = 32;
const headHeight = 32;

/**
 * Grid shows any number of rows and columns, and renders only those in view. The first column stays in place. Arrows, Home, End and the page keys move
 * between cells; Enter uses the control of a cell, or opens the row. On a phone each row is a card.
 */
export function Grid<T>(props: GridProps<T>) {
  const { label, columns, count, at, keyOf, onRange, height, card, cardHeight = 96 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const select = useSelecting(props);
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 });
  const ofCard = narrow ? cardHeight : undefined;
  const sizeOf = (index: number) => {
    const row = at(index);
    return ofCard ?? (row && height ? height(row) : rowHeight);
  };
  const overscan = useSpareRows();
  const virtual = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: sizeOf, overscan });
  const { widths, part } = useColumnsInView(scroller, columns, narrow);
  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];

  useEffect(() => onRange?.(from, to), [from, to, onRange]);
  const measured = height && at; // new rows are only measured if their heights differ
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights follow the form and the rows
  useEffect(() => virtual.measure(), [ofCard, count, measured]);

  const focus = (cell: Cell) => {
    setActive(cell);
    virtual.scrollToIndex(cell.row);
    if (widths && scroller.current)
      scroller.current.scrollLeft = scrollFor(widths, cell.column, scroller.current.scrollLeft, scroller.current.clientWidth);
    // The focus moves at once if the row is drawn, so that the next key does not reach the old cell.
    if (!focusCell(scroller.current, cell)) requestAnimationFrame(() => focusCell(scroller.current, cell));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (!target.dataset.cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = at(active.row);
    if (row !== undefined && props.onKey?.(event, row, active.row)) return event.preventDefault();
    if (event.key === "x" && props.selection && !narrow) return select(active.row, false);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const control = target.querySelector<HTMLElement>("button:not(:disabled), a, input:not(:disabled, [data-select])");
      if (control) control.click();
      else if (row !== undefined) props.onOpen?.(row);
      return;
    }
    const next = move(event.key, active, {
      rows: count,
      columns: narrow ? 1 : columns.length,
      page: Math.max(1, to - from - 2 * overscan),
    });
    if (!next) return;
    event.preventDefault();
    focus(next);
  };

  const template = widths ? widths.map((width) => `${width}px`).join(" ") : columns.map((column) => column.width).join(" ");
  const cells = narrow ? cardColumn(card) : columns;
  return (
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={narrow ? 1 : columns.length}
      className={styles.grid}
      ref={scroller}
      style={{ flexBasis: virtual.getTotalSize() + (narrow ? 2 : headHeight + 2) }}
      onKeyDown={onKeyDown}
    >
      {!narrow && <GridHead columns={columns} template={template} part={part} />}
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start, size }) => {
          const row = at(index);
          return (
            <Row
              key={row === undefined ? `${index}` : keyOf(row)}
              row={row}
              index={index}
              start={start}
              height={size}
              template={narrow ? undefined : template}
              cells={cells as Column<unknown>[]}
              part={part}
              active={index === Math.min(active.row, count - 1) ? active.column : undefined}
              isDimmed={row !== undefined && (props.dimmed?.(row) ?? false)}
              isSelected={narrow || row === undefined ? undefined : props.selection?.selected.has(keyOf(row))}
              onSelect={select}
              onFocus={setActive}
            />
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  row: unknown;
  index: number;
  start: number;
  height: number;
  /** template is absent where the row is a card. */
  template?: string;
  cells: Column<unknown>[];
  /** part is absent where all columns are drawn. */
  part?: Part;
  /** active is the column that Tab focuses, if it is in this row. */
  active?: number;
  isDimmed: boolean;
  /** isSelected is absent where rows cannot be selected. */
  isSelected?: boolean;
  onSelect: Select;
  onFocus: (cell: Cell) => void;
}

/** Row is drawn again only when it changes: most updates of a grid concern one row or none. */
const Row = memo(function Row({
  row,
  index,
  start,
  height,
  template,
  cells,
  part,
  active,
  isDimmed,
  isSelected,
  onSelect,
  onFocus,
}: RowProps) {
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={template ? styles.row : styles.card}
      data-dimmed={isDimmed || undefined}
      data-loading={row === undefined || undefined}
      style={{ transform: `translateY(${start}px)`, height, gridTemplateColumns: template }}
    >
      {cells.map(
        (column, position) =>
          (isDrawn(position, part) || position === active) && (
            <GridCell
              key={column.key}
              row={row}
              index={index}
              position={position}
              column={column}
              isActive={position === active}
              isSelected={position === 0 ? isSelected : undefined}
              onSelect={onSelect}
              onFocus={onFocus}
            />
          ),
      )}
    </div>
  );
});

interface CellProps {
  row: unknown;
  index: number;
  position: number;
  column: Column<unknown>;
  isActive: boolean;
  isSelected?: boolean;
  onSelect: Select;
  onFocus: (cell: Cell) => void;
}

/** GridCell is not rendered again when other columns of its row come into view. */
const GridCell = memo(function GridCell({ row, index, position, column, isActive, isSelected, onSelect, onFocus }: CellProps) {
  return (
    <div
      role="gridcell"
      className={styles.cell}
      data-cell={`${index}:${position}`}
      aria-colindex={position + 1}
      style={{ gridColumn: position + 1 }}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => onFocus({ row: index, column: position })}
    >
      {row === undefined ? <span className={styles.pending} /> : column.cell(row, index)}
      {isSelected !== undefined && (
        <input
          type="checkbox"
          data-select
          tabIndex={-1}
          className={styles.select}
          aria-label="Select"
          checked={isSelected}
          onChange={(event) => onSelect(index, (event.nativeEvent as MouseEvent).shiftKey)}
        />
      )}
    </div>
  );
});

/**
 * Select selects or deselects the row at an index or, for a range, selects all rows from the last selected
 * one to it.
 */
type Select = (index: number, isRange: boolean) => void;

/** useSelecting returns a function that stays the same, so that rows are not drawn again. */
function useSelecting<T>(props: Pick<GridProps<T>, "at" | "keyOf" | "selection">): Select {
  const latest = useRef(props);
  latest.current = props;
  const last = useRef<number>(undefined);
  return useCallback((index, isRange) => {
    const { at, keyOf, selection } = latest.current;
    const from = isRange ? (last.current ?? index) : index;
    last.current = index;
    const rows = Array.from({ length: Math.abs(index - from) + 1 }, (_, step) => at(Math.min(index, from) + step));
    const keys = rows.flatMap((row) => (row === undefined ? [] : [keyOf(row)]));
    const row = at(index);
    selection?.select(keys, isRange || row === undefined || !selection.selected.has(keyOf(row)));
  }, []);
}

/** useColumnsInView returns the widths of columns that do not fit into the frame, and those in view. Both are absent while all columns fit. */
function useColumnsInView(
  scroller: RefObject<HTMLDivElement | null>,
  columns: { width: string }[],
  narrow: boolean,
): { widths?: number[]; part?: Part } {
  const widths = columns.map((column) => leastWidth(column.width)).join();
  const least = useMemo(() => widths.split(",").map(Number), [widths]);
  const [part, setPart] = useState<Part>();
  useEffect(() => {
    const frame = scroller.current;
    if (!frame) return;
    const update = () => {
      const { scrollLeft, clientWidth } = frame;
      const fits = least.reduce((sum, width) => sum + width, 0) <= clientWidth;
      const seen = fits || narrow ? undefined : partInView(least, scrollLeft, scrollLeft + clientWidth);
      setPart((old) => (old?.from === seen?.from && old?.to === seen?.to ? old : seen));
    };
    update();
    const resized = new ResizeObserver(update);
    resized.observe(frame);
    frame.addEventListener("scroll", update, { passive: true });
    return () => {
      resized.disconnect();
      frame.removeEventListener("scroll", update);
    };
  }, [scroller, least, narrow]);
  return part ? { widths: least, part } : {};
}

/** useSpareRows returns the number of rows to draw above and below the view: none until the rows in view are drawn. */
function useSpareRows(): number {
  const [spare, setSpare] = useState(0);
  useEffect(() => startTransition(() => setSpare(12)), []);
  return spare;
}

/** focusCell gives a cell the focus and returns whether it is drawn. */
function focusCell(grid: HTMLElement | null, { row, column }: Cell): boolean {
  const cell = grid?.querySelector<HTMLElement>(`[data-cell="${row}:${column}"]`);
  cell?.focus({ preventScroll: true });
  return Boolean(cell);
}

function cardColumn<T>(card: (row: T) => ReactNode): Column<T>[] {
  return [{ key: "card", header: null, width: "1fr", cell: card }];
}
