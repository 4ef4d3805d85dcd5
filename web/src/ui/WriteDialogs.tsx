import { Alert, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { Dialog } from "./Dialog";
import { Diff } from "./Diff";
import { RelativeTime } from "./RelativeTime";
import type { Asked } from "./WriteProvider";
import type { Conflict, Question } from "./write";

/** WriteDialogs asks before a write, and when somebody else has changed the resource. */
export default function WriteDialogs({ asked }: { asked: Asked }) {
  const title = asked.kind === "confirm" ? asked.question.title : "Somebody else changed this";
  return (
    <Dialog data-above onClose={() => asked.answer(false)} title={title} size={asked.kind === "confirm" ? "lg" : "xl"}>
      {asked.kind === "confirm" ? (
        <Confirm question={asked.question} answer={asked.answer} />
      ) : (
        <Resolve conflict={asked.conflict} answer={asked.answer} />
      )}
    </Dialog>
  );
}

function Confirm({ question, answer }: { question: Question; answer: (yes: boolean) => void }) {
  return (
    <Stack>
      {question.consequences && <Text size="sm">{question.consequences}</Text>}
      {!question.destructive && <Diff before={question.before} after={question.after} />}
      {question.warnings.map((warning) => (
        <Alert key={warning} color="yellow" variant="light">
          {warning}
        </Alert>
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={() => answer(false)}>
          Cancel
        </Button>
        <Button color={question.destructive ? "red" : undefined} onClick={() => answer(true)} data-autofocus>
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
          <Diff before={conflict.theirs} after={conflict.mine} />
        </Stack>
        <Stack gap="xs">
          <Text fw={600} size="sm">
            Current version
          </Text>
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
