import { CloseButton } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import styles from "./SidePanel.module.css";

/** SidePanel shows the selected row beside its list, which stays usable. Escape closes the panel and returns the focus. */
export function SidePanel({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    panel.current?.focus();
    return () => before?.focus?.();
  }, []);
  // A button that is disabled while its action runs loses the focus to the body.
  useEffect(() => {
    const closeFromBody = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.target !== document.body) return;
      if (!document.querySelector("[aria-modal=true]")) close();
    };
    document.addEventListener("keydown", closeFromBody);
    return () => document.removeEventListener("keydown", closeFromBody);
  }, [close]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "Escape" || event.defaultPrevented || !event.currentTarget.contains(event.target as Node)) return;
    close();
  };
  return (
    <section role="dialog" aria-label={title} tabIndex={-1} ref={panel} className={styles.panel} onKeyDown={onKeyDown}>
      <div className={styles.head}>
        <h2>{title}</h2>
        <CloseButton aria-label="Close" onClick={close} />
      </div>
      <div className={styles.body}>{children}</div>
    </section>
  );
}
