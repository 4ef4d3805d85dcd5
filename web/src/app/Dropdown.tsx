import { type ReactNode, useId, useRef, useState } from "react";
import styles from "./Dropdown.module.css";

interface Props {
  label: ReactNode;
  /** name is the accessible name of the button. */
  name: string;
  className: string | undefined;
  side: "left" | "right";
  children: ReactNode;
}

/** Dropdown is a button of the top bar with choices below it. It uses the browser's popover, which closes on Escape and on a click outside. */
export function Dropdown({ label, name, className, side, children }: Props) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={className} popoverTarget={id} title={name}>
        <span aria-hidden="true">{label}</span>
        <span className="visually-hidden">{name}</span>
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: clicks and keys reach the choices inside */}
      <div
        id={id}
        ref={list}
        popover="auto"
        className={styles.list}
        data-side={side}
        onBeforeToggle={({ newState }) => setOpen(newState === "open")}
        onClick={() => list.current?.hidePopover()}
      >
        {isOpen && children}
      </div>
    </>
  );
}
