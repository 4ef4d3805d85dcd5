import { Popover } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { type ReactNode, useEffect } from "react";
import { Dialog } from "./Dialog";

interface Props {
  /** anchor is the cell; without one, and on a phone, the form is in the middle. */
  anchor: HTMLElement | null;
  title: string;
  width: number;
  /** isChanged is whether something was typed: a click outside then only asks, and does nothing else. */
  isChanged: boolean;
  /** atBottom shows the form at the bottom of a phone, near the thumb. */
  atBottom?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** CellPopover shows a form beside the clicked cell of a grid, and returns the focus to the cell. */
export function CellPopover({ anchor, title, width, isChanged, atBottom, onClose, children }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  useEffect(() => () => (anchor?.closest<HTMLElement>("[data-cell]") ?? anchor)?.focus(), [anchor]);
  if (narrow || !anchor) {
    return (
      <Dialog onClose={onClose} title={title} size={width + 32} yOffset={atBottom ? "auto" : undefined}>
        {children}
      </Dialog>
    );
  }
  const { left, top, width: wide, height } = anchor.getBoundingClientRect();
  return (
    <Popover
      opened
      withRoles={false}
      onDismiss={onClose}
      trapFocus
      position="bottom-start"
      width={width}
      withOverlay={isChanged}
      overlayProps={{ backgroundOpacity: 0 }}
    >
      <Popover.Target>
        <div style={{ position: "fixed", left, top, width: wide, height, pointerEvents: "none" }} />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={title}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}
