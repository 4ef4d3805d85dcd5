import { Popover } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { type ReactNode, useEffect } from "react";
import { Dialog } from "./Dialog";

interface Props {
  /** anchor is the cell; without one, and on a phone, the form is in the middle. */
  anchor: HTMLElement | null;
  title: string;
  width: number;
  onClose: () => void;
  children: ReactNode;
}

/** CellPopover shows a form beside the clicked cell of a grid, and returns the focus to the cell. */
export function CellPopover({ anchor, title, width, onClose, children }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  useEffect(() => () => (anchor?.closest<HTMLElement>("[data-cell]") ?? anchor)?.focus(), [anchor]);
  if (narrow || !anchor) {
    return (
      <Dialog onClose={onClose} title={title} size={width + 32}>
        {children}
      </Dialog>
    );
  }
  const { left, top, width: wide, height } = anchor.getBoundingClientRect();
  return (
    <Popover opened withRoles={false} onDismiss={onClose} trapFocus position="bottom-start" width={width}>
      <Popover.Target>
        <div style={{ position: "fixed", left, top, width: wide, height, pointerEvents: "none" }} />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={title}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}
