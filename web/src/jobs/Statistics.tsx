import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { send } from "../api/client";
import { keyOf } from "../api/queries";
import type { components } from "../api/schema";
import { useSetSearch } from "../app/focus";
import { Fact, Facts } from "../ui/Fact";
import { later } from "../ui/later";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { milliseconds } from "../ui/time";
import { type Day, pictureOf, totals } from "./stats";

const Chart = later(() => import("../ui/Chart"));

/** Statistics shows the outcomes and durations of the runs of the last 30 days. */
export default function Statistics({ id, last }: { id: string; last: string | undefined }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...keyOf.one("job", id), "stats", last],
    queryFn: async ({ signal }) => {
      const path = `/api/v1/jobs/${encodeURIComponent(id)}/stats`;
      const { document } = await send<components["schemas"]["JobStatsDocument"]>("GET", path, { query: { days: 30 }, signal });
      return document.data.attributes.days as Day[];
    },
  });
  const setSearch = useSetSearch();
  const picture = useMemo(() => pictureOf(data ?? []), [data]);
  if (isPending) return <Loading rows={6} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  const sum = totals(data);
  if (sum.runs + sum.skipped === 0) return <EmptyState title="No run has ended in the last 30 days" />;
  return (
    <>
      <Facts plain>
        <Fact label="Runs in 30 days">{String(sum.runs)}</Fact>
        <Fact label="Succeeded">{`${sum.succeeded} (${sum.rate})`}</Fact>
        <Fact label="Failed">{String(sum.failed)}</Fact>
        <Fact label="Slowest">{milliseconds(sum.slowest)}</Fact>
        {sum.skipped > 0 && <Fact label="Skipped due times">{String(sum.skipped)}</Fact>}
      </Facts>
      <Suspense fallback={<Loading rows={6} />}>
        <Chart
          label="Runs of each day by outcome, and their durations"
          {...picture}
          height={220}
          lines={milliseconds}
          onPick={(index) => setSearch({ tab: undefined, day: data[index]?.date })}
        />
      </Suspense>
    </>
  );
}
