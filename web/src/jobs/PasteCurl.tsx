import { Button, Group, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { type Call, readCurl } from "./curl";

/** PasteCurl fills the form from a curl command. */
export function PasteCurl({ onRead }: { onRead: (call: Call) => void }) {
  const [text, setText] = useState<string>();
  const [notes, setNotes] = useState<string[]>([]);
  if (text === undefined)
    return (
      <div>
        <Button size="compact-sm" variant="default" onClick={() => setText("")}>
          Paste a curl command
        </Button>
        {notes.map((note) => (
          <Text key={note} size="xs" className="muted" role="status">
            {note}
          </Text>
        ))}
      </div>
    );
  const read = text.trim() === "" ? undefined : readCurl(text.trim());
  const fill = () => {
    if (!read || "problem" in read) return;
    onRead(read.call);
    setNotes(read.notes);
    setText(undefined);
  };
  return (
    <div>
      <Textarea
        label="A curl command"
        description="It fills the method, the URL, the headers and the body"
        autosize
        minRows={3}
        maxRows={10}
        autoFocus
        classNames={{ input: "mono" }}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={read && "problem" in read ? read.problem : undefined}
      />
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" disabled={!read || "problem" in read} onClick={fill}>
          Fill the form
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setText(undefined)}>
          Cancel
        </Button>
      </Group>
    </div>
  );
}
