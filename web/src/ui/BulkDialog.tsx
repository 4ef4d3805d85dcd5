import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import type { Kind } from "../api/kinds";
import styles from "./BulkDialog.module.css";
import { applyAll, isWork, type Outcome, revertAll, type Trial, tryAll } from "./bulk";
import { Dialog } from "./Dialog";
import { say, sayFailure } from "./messages";
import { NoteField } from "./NoteField";
import type { Write } from "./requests";
import { SentenceList } from "./Sentences";
import { ErrorState, Loading } from "./states";
import { useOnce } from "./useOnce";

export interface Plan {
  /** title names the action: "Switch 12 flags off in Production". */
  title: string;
  /** done returns the final message for the number of changed resources. */
  done: (count: number) => string;
  verb: string;
  isDestructive?: boolean;
  writes: Write<Kind>[];
}

/** BulkDialog shows what writes of several resources would do, in one dry run, and carries them out. */
export default function BulkDialog({ plan, close }: { plan: Plan; close: (isDone: boolean) => void }) {
  const queries = useQueryClient();
  const [trials, setTrials] = useState<Trial[]>();
  const [failure, setFailure] = useState<ApiError>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [note, setNote] = useState("");
  useEffect(() => {
    tryAll(plan.writes).then(setTrials, (problem) => setFailure(asApiError(problem)));
  }, [plan]);
  const [busy, apply] = useOnce(async (accepted: Trial[]) => {
    const made = await applyAll(queries, accepted, note.trim() || undefined);
    const undo = () =>
      revertAll(queries, accepted, made.changes).then(
        () => say("Undone."),
        (problem) => sayFailure("Undo", asApiError(problem)),
      );
    if (made.done > 0) say(plan.done(made.done), { undo: made.changes.length > 0 ? undo : undefined });
    if (made.refused.length === 0) close(true);
    else setOutcome(made);
  });
  const accepted = (trials ?? []).filter(isWork);
  const leave = () => {
    if (!busy) close(outcome !== undefined); // the refusals are still to come
  };
  return (
    <Dialog onClose={leave} title={plan.title} size="lg">
      {failure ? (
        <ErrorState error={failure} />
      ) : outcome ? (
        <Refused outcome={outcome} close={() => close(true)} />
      ) : !trials ? (
        <Loading rows={4} />
      ) : (
        <Stack>
          <Trials trials={trials} />
          <NoteField note={note} setNote={setNote} />
          <Group justify="flex-end">
            <Button variant="default" disabled={busy} onClick={leave}>
              Cancel
            </Button>
            <Button
              data-autofocus
              color={plan.isDestructive ? "red" : undefined}
              disabled={accepted.length === 0}
              loading={busy}
              onClick={() => void apply(accepted)}
            >
              {plan.verb} {accepted.length}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

/** Trials lists what each write would do; those that the server would refuse come first. */
function Trials({ trials }: { trials: Trial[] }) {
  const refused = trials.filter(({ refusal }) => refusal);
  return (
    <>
      {refused.length > 0 && (
        <Alert color="yellow" variant="light" title={`${refused.length} of ${trials.length} cannot be changed`}>
          <Refusals of={refused.map(({ write, refusal }) => ({ id: write.id, text: refusal?.message ?? "" }))} />
        </Alert>
      )}
      <ul className={styles.trials} aria-label="What this does">
        {trials
          .filter(({ refusal }) => !refusal)
          .map(({ write, summary }) => (
            <li key={write.id}>
              <span className="mono">{write.id}</span>{" "}
              {summary.length > 0 ? <SentenceList summary={summary} /> : <span className="muted">{idle(write)}</span>}
            </li>
          ))}
      </ul>
    </>
  );
}

const idle = (write: Write<Kind>) => (write.method === "DELETE" ? "is deleted" : "stays as it is");

function Refused({ outcome: { done, refused }, close }: { outcome: Outcome; close: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        {done} {done === 1 ? "was" : "were"} changed. These were not:
      </Text>
      <Refusals of={refused.map(({ id, failure }) => ({ id, text: failure.message }))} />
      <Group justify="flex-end">
        <Button data-autofocus onClick={close}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}

function Refusals({ of }: { of: { id: string; text: string }[] }) {
  return (
    <ul className={styles.trials}>
      {of.map(({ id, text }) => (
        <li key={id}>
          <span className="mono">{id}</span> <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
