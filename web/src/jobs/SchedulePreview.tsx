import { Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import type { components } from "../api/schema";
import { RelativeTime } from "../ui/RelativeTime";
import { instant } from "../ui/time";
import { inWords } from "./inwords";
import styles from "./jobs.module.css";
import { offsetTime, shiftInWords } from "./schedule";

type Preview = components["schemas"]["SchedulePreviewDocument"];
type ClockChange = components["schemas"]["ClockChange"];

/**
 * usePreview asks the server when a schedule fires. An invalid schedule gets the error that the job would
 * get.
 */
export function usePreview(schedule: string, timezone: string) {
  return useQuery({
    queryKey: ["job", "preview", schedule, timezone],
    queryFn: async ({ signal }) => {
      const query = { schedule, timezone: timezone || undefined, count: 5 };
      return (await send<Preview>("GET", "/api/v1/schedules/preview", { query, signal })).document.data.attributes;
    },
    enabled: schedule !== "",
    staleTime: 30_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
}

/** SchedulePreview shows a schedule in words, its next five fire times, and those around the next change of its zone's clock. */
export function SchedulePreview({ schedule, timezone }: { schedule: string; timezone: string }) {
  const { data, error, isPlaceholderData } = usePreview(schedule, timezone);
  if (schedule === "" || error)
    return (
      <Text size="sm" className="muted">
        The next five fire times are shown here.
      </Text>
    );
  return (
    <div aria-live="polite" style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
      <Text size="sm" fw={550} mb={4}>
        {inWords(schedule, timezone)}
      </Text>
      {data && data.kind !== "now" && <Fires label="Next fire times" at={data.next} local={data.next_local} />}
      {data?.clock_change && <Around change={data.clock_change} />}
    </div>
  );
}

function Fires({ label, at, local }: { label: string; at: string[]; local: string[] }) {
  return (
    <ol className={styles.fires} aria-label={label}>
      {at.map((each, index) => (
        <Fire key={each} at={each} local={local[index] ?? each} />
      ))}
    </ol>
  );
}

// A time of a zone is shown as its clock shows it, with UTC below.
function Fire({ at, local }: { at: string; local: string }) {
  const here = `${instant(at).local} where you are`;
  const isZoned = !local.endsWith("Z");
  return (
    <li>
      <span className="tabular">{offsetTime(local)}</span>
      <RelativeTime at={at} />
      <small className="tabular">{isZoned ? `${instant(at).utc}, ${here}` : here}</small>
    </li>
  );
}

function Around({ change }: { change: ClockChange }) {
  return (
    <>
      <Text size="xs" mt="sm" className="muted">
        The clock {shiftInWords(change.shift_seconds)} on {instant(change.at).utc}. Around it, the job fires:
      </Text>
      <Fires label="Fire times around the change of the clock" at={change.around} local={change.around_local} />
    </>
  );
}
