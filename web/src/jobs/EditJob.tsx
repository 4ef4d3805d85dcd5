import { Alert, Button, Group, Text } from "@mantine/core";
import type { Loaded } from "../api/queries";
import { useDraft } from "../ui/draft";
import { Restored } from "../ui/FormModal";
import { useWriter } from "../ui/WriteProvider";
import { applied, draftOf } from "./draft";
import { JobForm } from "./JobForm";
import { useRunActions } from "./useRunActions";

/** EditJob changes a job. A change by somebody else is announced and does not replace the typed text. */
export default function EditJob({ loaded }: { loaded: Loaded<"job"> }) {
  const { id } = loaded.resource;
  const writer = useWriter();
  const { runNow } = useRunActions();
  const draft = useDraft(`job:${id}`, loaded.etag, draftOf(id, loaded.resource.attributes));
  const save = async (andRun: boolean) => {
    if (draft.isChanged) {
      const done = await writer.perform({
        kind: "job",
        id,
        title: `Change the job ${id}`,
        done: `Saved ${id}.`,
        etag: draft.version,
        change: (current) => applied(current ?? loaded.resource.attributes, draft.base, draft.value),
      });
      if (!done) return;
      draft.discard();
    }
    if (andRun) await runNow(id);
  };
  return (
    <>
      {draft.isOutdated ? (
        <Alert color="yellow" variant="light" mb="md" role="status">
          <Group justify="space-between">
            <Text size="sm">Somebody changed this job while you were editing it. Saving shows both versions.</Text>
            <Button size="compact-sm" variant="default" onClick={draft.discard}>
              Discard mine, show theirs
            </Button>
          </Group>
        </Alert>
      ) : (
        <Restored draft={draft} />
      )}
      <JobForm draft={draft.value} isChanged={draft.isChanged} onChange={draft.change} onSave={save} />
    </>
  );
}
