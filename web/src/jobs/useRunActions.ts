import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { asApiError, send } from "../api/client";
import { pathOf, type Single } from "../api/kinds";
import { keyOf } from "../api/queries";
import { visible } from "../visible/visible";

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
      const { message, requestId } = asApiError(failure);
      notifications.show({
        color: "red",
        title: `${title}: failed`,
        message: visible(`${message} (request ${requestId})`),
        autoClose: 12_000,
      });
      return undefined;
    }
  };
  const show = async (made: ReturnType<typeof act>) => {
    const run = await made;
    if (run) await navigate({ to: "/jobs/$id/runs/$run", params: { id: run.attributes.job, run: run.id } });
  };
  return {
    runNow: (job: string) => show(act("Run now", `${pathOf("job", job)}/actions/run`)),
    rerun: (run: string) => show(act("Run again", `${pathOf("run", run)}/actions/rerun`)),
    cancel: async (run: string) => void (await act("Cancel", `${pathOf("run", run)}/actions/cancel`)),
  };
}
