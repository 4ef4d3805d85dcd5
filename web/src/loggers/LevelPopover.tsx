import { Popover } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Dialog } from "../ui/Dialog";
import { LevelForm } from "./LevelForm";
import type { PickerProps } from "./LevelPicker";

/** LevelPopover shows the form beside the pill that was clicked; on a phone, over the whole width. */
export default function LevelPopover({ picking, onClose, onWritten }: PickerProps) {
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  const { anchor, ...form } = picking;
  const close = () => {
    onClose();
    (anchor.closest<HTMLElement>("[data-cell]") ?? anchor).focus(); // back to the cell that had the focus
  };
  if (narrow) {
    return (
      <Dialog onClose={close} title="Set a level" yOffset="auto">
        <LevelForm {...form} onClose={close} onWritten={onWritten} />
      </Dialog>
    );
  }
  const { left, top, width, height } = anchor.getBoundingClientRect();
  return (
    <Popover opened withRoles={false} onDismiss={close} trapFocus position="bottom-start" width={480} closeOnClickOutside>
      <Popover.Target>
        <div style={{ position: "fixed", left, top, width, height, pointerEvents: "none" }} />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label="Set a level">
        <LevelForm {...form} onClose={close} onWritten={onWritten} />
      </Popover.Dropdown>
    </Popover>
  );
}
