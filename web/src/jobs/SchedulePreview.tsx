import { Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import type { components } from "../api/schema";
import { RelativeTime } from "../ui/RelativeTime";
import styles from "./jobs.module.css";
import { instant, inWords } from "./schedule";

type Preview = components["schemas"]["SchedulePreviewDocument"];

/** usePreview asks the server when a schedule fires; the job would get the same error. */
export function usePreview(schedule: string) {
  return useQuery({
    queryKey: ["job", "preview", schedule],
    queryFn: async ({ signal }) =>
      (await send<Preview>("GET", "/api/v1/schedules/preview", { query: { schedule, count: 5 }, signal })).document.data.attributes,
    enabled: schedule !== "",
    staleTime: 30_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
}

/** SchedulePreview shows a schedule in words, and its next five fire times. */
export function SchedulePreview({ schedule }: { schedule: string }) {
  const { data, error, isPlaceholderData } = usePreview(schedule);
  if (schedule === "" || error)
    return (
      <Text size="sm" className="muted">
        The next five fire times are shown here.
      </Text>
    );
  return (
    <div aria-live="polite" style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
      <Text size="sm" fw={550} mb={4}>
        {inWords(schedule)}
      </Text>
      {data?.kind !== "now" && (
        <ol className={styles.fires} aria-label="Next fire times">
          {(data?.next ?? []).map((at) => (
            <li key={at}>
              <span className="tabular">{instant(at).utc}</span>
              <RelativeTime at={at} />
              <small className="tabular">{instant(at).local} where you are</small>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
