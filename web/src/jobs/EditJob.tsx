import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { Loaded } from "../api/queries";
import { same } from "../ui/diff";
import { useWriter } from "../ui/WriteProvider";
import { applied, draftOf } from "./draft";
import { JobForm } from "./JobForm";
import { useRunActions } from "./useRunActions";

/** EditJob changes a job. A change by somebody else is announced and does not replace the typed text. */
export default function EditJob({ loaded }: { loaded: Loaded<"job"> }) {
  const { id } = loaded.resource;
  const writer = useWriter();
  const { runNow } = useRunActions();
  const [opened, setOpened] = useState(loaded);
  const [draft, setDraft] = useState(() => draftOf(id, loaded.resource.attributes));
  const before = draftOf(id, opened.resource.attributes);
  const isChanged = !same(before, draft);
  const reset = (to: Loaded<"job">) => {
    setOpened(to);
    setDraft(draftOf(id, to.resource.attributes));
  };
  if (opened.etag !== loaded.etag && !isChanged) reset(loaded);

  const save = async (andRun: boolean) => {
    if (isChanged) {
      const done = await writer.perform({
        kind: "job",
        id,
        title: `Change the job ${id}`,
        done: `${id} is saved.`,
        etag: opened.etag,
        change: (current) => applied(current ?? opened.resource.attributes, before, draft),
      });
      if (!done) return;
      setDraft(before);
    }
    if (andRun) await runNow(id);
  };
  return (
    <>
      {opened.etag !== loaded.etag && (
        <Alert color="yellow" variant="light" mb="md" role="status">
          <Group justify="space-between">
            <Text size="sm">Somebody changed this job while you were editing it. Saving shows both versions.</Text>
            <Button size="compact-sm" variant="default" onClick={() => reset(loaded)}>
              Discard mine, show theirs
            </Button>
          </Group>
        </Alert>
      )}
      <JobForm draft={draft} isChanged={isChanged} onChange={(changes) => setDraft((old) => ({ ...old, ...changes }))} onSave={save} />
    </>
  );
}
