import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { DetailHead } from "../ui/DetailHead";
import { useDraft } from "../ui/draft";
import { Restored } from "../ui/FormModal";
import { later } from "../ui/later";
import { Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import { attributesOf, emptyDraft } from "./draft";
import { useRunActions } from "./useRunActions";

const JobForm = later(() => import("./JobForm").then(({ JobForm }) => ({ default: JobForm })));

/** NewJob is the page that creates a job. */
export default function NewJob() {
  const writer = useWriter();
  const navigate = useNavigate();
  const { runNow } = useRunActions();
  const kept = useDraft("job:new", "", emptyDraft);
  const draft = kept.value;
  const save = async (andRun: boolean) => {
    const made = await writer.perform({
      kind: "job",
      id: draft.id,
      method: "POST",
      title: `Create the job ${draft.id}`,
      done: `Created ${draft.id}.`,
      change: () => attributesOf(draft),
    });
    if (!made) return;
    kept.discard();
    if (andRun) await runNow(made.id);
    else await navigate({ to: "/jobs/$id", params: { id: made.id } });
  };
  return (
    <main className="screen detail">
      <DetailHead list={{ to: "/jobs", label: "Jobs" }} title="New job" />
      <div className="panel">
        <Restored draft={kept} />
        <Suspense fallback={<Loading rows={10} />}>
          <JobForm isNew draft={draft} isChanged={kept.isChanged} onChange={kept.change} onSave={save} />
        </Suspense>
      </div>
    </main>
  );
}
