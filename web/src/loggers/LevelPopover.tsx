import { CellPopover } from "../ui/CellPopover";
import { AskDiscard, Restored, useLeaving } from "../ui/FormModal";
import { LevelForm, useLevelDraft } from "./LevelForm";
import type { PickerProps } from "./LevelPicker";

/** LevelPopover shows the form beside the pill that was clicked; on a phone, over the whole width. */
export default function LevelPopover({ picking, onClose, onWritten }: PickerProps) {
  const { anchor, ...form } = picking;
  const draft = useLevelDraft(form);
  const { leave, ...asking } = useLeaving(draft, onClose);
  return (
    <CellPopover anchor={anchor} title="Set a level" width={480} isChanged={draft.isChanged} atBottom onClose={leave}>
      <Restored draft={draft} />
      <LevelForm {...form} draft={draft} onClose={onClose} onWritten={onWritten} />
      <AskDiscard {...asking} />
    </CellPopover>
  );
}
