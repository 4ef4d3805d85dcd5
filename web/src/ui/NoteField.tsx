import { TextInput } from "@mantine/core";

/** NoteField asks for the note that the history keeps with a change. */
export function NoteField({ note, setNote }: { note: string; setNote: (note: string) => void }) {
  return (
    <TextInput
      size="xs"
      label="Why (optional, for the history)"
      maxLength={500}
      value={note}
      onChange={(event) => setNote(event.currentTarget.value)}
    />
  );
}
