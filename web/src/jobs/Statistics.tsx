import { Table, Text, useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { send } from "../api/client";
import { keyOf } from "../api/queries";
import type { components } from "../api/schema";
import { later } from "../ui/later";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Fact } from "./Fact";
import styles from "./jobs.module.css";
import { milliseconds } from "./runs";
import { type Day, totals } from "./stats";

const DaysChart = later(() => import("./DaysChart"));

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
  const scheme = useComputedColorScheme("light");
  if (isPending) return <Loading rows={6} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  const sum = totals(data);
  if (sum.runs === 0) return <EmptyState title="No run has ended in the last 30 days" />;
  return (
    <>
      <dl className={styles.facts}>
        <Fact label="Runs in 30 days">{String(sum.runs)}</Fact>
        <Fact label="Succeeded">{`${sum.succeeded} (${sum.rate})`}</Fact>
        <Fact label="Failed">{String(sum.failed)}</Fact>
        <Fact label="Slowest">{milliseconds(sum.slowest)}</Fact>
      </dl>
      <Suspense fallback={<Loading rows={6} />}>
        <DaysChart days={data} dark={scheme === "dark"} key={scheme} />
      </Suspense>
      <details>
        <Text component="summary" size="sm">
          As a table
        </Text>
        <DaysTable days={data} />
      </details>
    </>
  );
}

function DaysTable({ days }: { days: Day[] }) {
  return (
    <Table.ScrollContainer type="native" tabIndex={0} minWidth={520}>
      <Table verticalSpacing={4} fz="xs">
        <Table.Thead>
          <Table.Tr>
            {["Day (UTC)", "Succeeded", "Failed", "Canceled", "Median", "95 %", "Slowest"].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map((day) => (
            <Table.Tr key={day.date}>
              <Table.Td>{day.date}</Table.Td>
              <Table.Td>{day.succeeded}</Table.Td>
              <Table.Td>{day.failed}</Table.Td>
              <Table.Td>{day.canceled}</Table.Td>
              <Table.Td>{milliseconds(day.p50_ms)}</Table.Td>
              <Table.Td>{milliseconds(day.p95_ms)}</Table.Td>
              <Table.Td>{milliseconds(day.max_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
