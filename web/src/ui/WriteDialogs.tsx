import { Alert, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "./Dialog";
import { Diff } from "./Diff";
import { NoteField } from "./NoteField";
import { RelativeTime } from "./RelativeTime";
import { SentenceList, Sentences } from "./Sentences";
import type { Asked } from "./WriteProvider";
import type { Conflict, Consent, Question } from "./write";

/** WriteDialogs asks before a write, and when somebody else has changed the resource. */
export default function WriteDialogs({ asked }: { asked: Asked }) {
  if (asked.kind === "confirm")
    return (
      <Dialog data-above onClose={() => asked.answer(undefined)} title={asked.question.title} size="lg">
        <Confirm question={asked.question} answer={asked.answer} />
      </Dialog>
    );
  return (
    <Dialog data-above onClose={() => asked.answer(false)} title="Somebody else changed this" size="xl">
      <Resolve conflict={asked.conflict} answer={asked.answer} />
    </Dialog>
  );
}

function Confirm({ question, answer }: { question: Question; answer: (consent: Consent) => void }) {
  const [note, setNote] = useState(question.note ?? "");
  return (
    <Stack>
      {question.consequences && <Text size="sm">{question.consequences}</Text>}
      {!question.destructive && <Sentences summary={question.summary} before={question.before} after={question.after} />}
      {question.warnings.map((warning) => (
        <Alert key={warning} color="yellow" variant="light">
          {warning}
        </Alert>
      ))}
      <NoteField note={note} setNote={setNote} />
      <Group justify="flex-end">
        <Button variant="default" onClick={() => answer(undefined)}>
          Cancel
        </Button>
        <Button color={question.destructive ? "red" : undefined} onClick={() => answer({ note: note.trim() || undefined })} data-autofocus>
          {question.verb ?? (question.destructive ? "Delete" : "Apply")}
        </Button>
      </Group>
    </Stack>
  );
}

function Resolve({ conflict, answer }: { conflict: Conflict; answer: (yes: boolean) => void }) {
  return (
    <Stack>
      <Text size="sm">
        {conflict.who} changed this <RelativeTime at={conflict.at} />, after you opened it. Nothing of yours was written.
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Stack gap="xs">
          <Text fw={600} size="sm">
            Your change
          </Text>
          <Sentences summary={conflict.would} before={conflict.theirs} after={conflict.mine} />
        </Stack>
        <Stack gap="xs">
          <Text fw={600} size="sm">
            Current version
          </Text>
          <SentenceList summary={conflict.did ?? []} />
          <Diff before={{}} after={conflict.theirs} />
        </Stack>
      </SimpleGrid>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => answer(false)} data-autofocus>
          Keep theirs
        </Button>
        <Button onClick={() => answer(true)}>Apply mine on top</Button>
      </Group>
    </Stack>
  );
}
