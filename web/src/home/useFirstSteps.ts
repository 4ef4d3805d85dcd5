import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { evaluationsOptions } from "../api/metrics";
import { listOf } from "../api/queries";
import { useMe } from "../api/session";
import { useConnections } from "../services/useReports";
import { useNow } from "../ui/RelativeTime";
import { periodOf, startOf } from "../ui/series";

/** FirstSteps says which of the first steps of an account are done. */
export interface FirstSteps {
  key: boolean;
  connected: boolean;
  served: boolean;
  level: boolean;
}

const soon = 3000;

/**
 * useFirstSteps follows the first steps live; it returns undefined while it does not know them, when all are done and
 * when the user has closed the list.
 */
export function useFirstSteps(): { steps: FirstSteps; close: () => void } | undefined {
  const { account } = useMe();
  const [isClosed, setClosed] = useLocalStorage({ key: `signalbox-first-steps-${account.id}`, defaultValue: false });
  const quarter = periodOf("90d");
  const start = startOf(quarter, useNow(3600));
  const enabled = !isClosed;
  const keys = useQuery({ ...listOf("api_key", { "page[size]": 50 }), enabled });
  const services = useQuery({ ...listOf("service", { "page[size]": 1 }), enabled, refetchInterval: soon });
  const { data: connections } = useConnections();
  const evaluations = useQuery({
    ...evaluationsOptions({ from: start, step: quarter.step, by: [] }),
    enabled,
    refetchInterval: soon,
  });
  const loggers = useQuery({ ...listOf("logger", { "filter[managed]": true, "page[size]": 200 }), enabled });
  if (isClosed || !services.data || !evaluations.data || !loggers.data || !connections || keys.isPending) return undefined;
  const steps: FirstSteps = {
    // For people who may not see keys this step counts as done.
    key: !keys.data || keys.data.data.some(({ attributes }) => attributes.name !== "Owner key"),
    connected: services.data.data.length > 0 || connections.some(({ attributes }) => attributes.service),
    served: evaluations.data.length > 0,
    level: loggers.data.data.some(({ attributes }) => attributes.level !== null || Object.keys(attributes.environments).length > 0),
  };
  // A flag may be served over OFREP by a service without a name.
  steps.connected ||= steps.served;
  if (Object.values(steps).every(Boolean)) return undefined;
  return { steps, close: () => setClosed(true) };
}
