import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState } from "react";

/** useReturnFocus returns the focus, when a dialog is closed, to the control that had it before. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement as HTMLElement | null);
  useEffect(
    () => () => {
      // It waits a frame, because the control may be rendered again, and another dialog may take the focus.
      requestAnimationFrame(() => {
        if (document.activeElement && document.activeElement !== document.body) return;
        const target = before?.isConnected && before !== document.body ? before : document.querySelector<HTMLElement>("main");
        if (target?.tagName === "MAIN") target.tabIndex = -1;
        target?.focus({ preventScroll: true });
      });
    },
    [before],
  );
}

/** Dialog is a dialog that is shown as long as it is rendered. */
export function Dialog(props: Omit<ModalProps, "opened">) {
  useReturnFocus();
  return <Modal opened returnFocus={false} {...props} />;
}
