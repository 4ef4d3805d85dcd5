import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { asApiError, send } from "../api/client";
import { pathOf, type Single } from "../api/kinds";
import { keyOf } from "../api/queries";
import { sayFailure } from "../ui/messages";
import { useOnce } from "../ui/useOnce";

/** useRunActions returns the actions on runs. Each shows its run, or the error. */
export function useRunActions() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const act = async (title: string, path: string) => {
    try {
      const { document, etag } = await send<Single<"run">>("POST", path);
      queries.setQueryData(keyOf.one("run", document.data.id), { resource: document.data, etag });
      void queries.invalidateQueries({ queryKey: ["run"] });
      void queries.invalidateQueries({ queryKey: ["job"] });
      return document.data;
    } catch (failure) {
      sayFailure(title, asApiError(failure));
      return undefined;
    }
  };
  const show = async (made: ReturnType<typeof act>) => {
    const run = await made;
    if (run) await navigate({ to: "/jobs/$id/runs/$run", params: { id: run.attributes.job, run: run.id } });
  };
  const [busy, once] = useOnce((action: () => Promise<unknown>) => action());
  return {
    busy,
    runNow: (job: string) => once(() => show(act("Run now", `${pathOf("job", job)}/actions/run`))),
    rerun: (run: string) => once(() => show(act("Run again", `${pathOf("run", run)}/actions/rerun`))),
    cancel: (run: string) => once(() => act("Cancel", `${pathOf("run", run)}/actions/cancel`)),
  };
}
