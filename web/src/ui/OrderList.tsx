import { type KeyboardEvent, type ReactNode, useState } from "react";
import { IconGripVertical } from "./icons";
import styles from "./OrderList.module.css";
import { moved } from "./order";

interface Item {
  id: string;
  name: string;
}

interface Props<T extends Item> {
  label: string;
  items: T[];
  disabled?: boolean;
  /** onOrder writes the whole order after an item was moved; the new order is shown until that is done. */
  onOrder: (ids: string[]) => Promise<void>;
  children: (item: T) => ReactNode;
}

/**
 * OrderList is a list that people put in order: with the mouse, or with the keyboard on a handle (space
 * picks up and drops an item, arrows move it, Escape cancels).
 */
export function OrderList<T extends Item>({ label, items, disabled = false, onOrder, children }: Props<T>) {
  const [held, setHeld] = useState<string>();
  const [order, setOrder] = useState<string[]>();
  const [said, setSaid] = useState("");
  const current = items.map(({ id }) => id);
  const rank = new Map((order ?? current).map((id, index) => [id, index]));
  const shown = items.toSorted((one, other) => (rank.get(one.id) ?? items.length) - (rank.get(other.id) ?? items.length));
  const ids = shown.map(({ id }) => id);

  const take = (item: T) => {
    setHeld(item.id);
    setOrder(current);
    setSaid(`${item.name} is picked up. Arrows move it, space drops it, Escape cancels.`);
  };
  const place = (item: T, to: number) => {
    const next = moved(ids, item.id, to);
    setOrder(next);
    setSaid(`${item.name} is number ${next.indexOf(item.id) + 1} of ${next.length}.`);
  };
  const leave = () => {
    setHeld(undefined);
    setOrder(undefined);
  };
  const put = () => {
    setHeld(undefined);
    if (order && order.join("\n") !== current.join("\n")) void onOrder(order).finally(() => setOrder(undefined));
    setSaid("Dropped.");
  };
  const onKeyDown = (event: KeyboardEvent, item: T, index: number) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === " " || event.key === "Enter") held === item.id ? put() : take(item);
    else if (held !== item.id) return;
    else if (step) place(item, index + step);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <ol className={styles.list} aria-label={label}>
        {shown.map((item, index) => (
          <li
            key={item.id}
            className={styles.item}
            aria-label={item.name}
            data-held={held === item.id || undefined}
            draggable={!disabled}
            onDragStart={() => take(item)}
            onDragOver={(event) => {
              event.preventDefault();
              const moving = shown.find(({ id }) => id === held);
              if (moving && moving.id !== item.id) place(moving, index);
            }}
            onDrop={(event) => {
              event.preventDefault();
              put();
            }}
            onDragEnd={() => held && leave()}
          >
            <button
              type="button"
              className={styles.handle}
              aria-label={`Move ${item.name}`}
              aria-pressed={held === item.id}
              disabled={disabled}
              onKeyDown={(event) => onKeyDown(event, item, index)}
              onBlur={() => held === item.id && leave()}
            >
              <IconGripVertical size={15} aria-hidden="true" />
            </button>
            {children(item)}
          </li>
        ))}
      </ol>
      <div aria-live="assertive" className="visually-hidden">
        {said}
      </div>
    </>
  );
}
