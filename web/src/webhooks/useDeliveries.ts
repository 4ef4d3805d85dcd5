import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { asApiError, send } from "../api/client";
import { clock } from "../api/clock";
import { pathOf } from "../api/kinds";
import { keyOf } from "../api/queries";
import type { components } from "../api/schema";
import { sayFailure } from "../ui/messages";
import { useOnce } from "../ui/useOnce";
import { type Delivery, isOver } from "./deliveries";

type Page = components["schemas"]["WebhookDeliveryStream"];

const soon = 2000;
const later = 10_000;

/** useDeliveries reads the deliveries of a webhook, the newest first. It polls, because deliveries send no events. */
export function useDeliveries(webhook: string, status?: string) {
  return useInfiniteQuery({
    queryKey: [...keyOf.one("webhook", webhook), "deliveries", status],
    initialPageParam: "",
    refetchInterval: ({ state }) => (state.data?.pages[0]?.data.some(isMoving) ? soon : later),
    queryFn: async ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) => {
      const query = { "filter[status]": status, "page[size]": 50, "page[after]": pageParam };
      return (await send<Page>("GET", `${pathOf("webhook", webhook)}/deliveries`, { query, signal })).document;
    },
    getNextPageParam: (last) => (last.links.next === null ? undefined : last.data.at(-1)?.id),
  });
}

// isMoving reports whether a delivery will change in the next seconds.
function isMoving({ attributes: { status, next_attempt_at } }: Delivery): boolean {
  return !isOver(status) && (next_attempt_at === null || Date.parse(next_attempt_at) - clock.now() < later);
}

/**
 * useDeliveryActions returns the actions that send deliveries. Each returns its answer, or shows the error.
 */
export function useDeliveryActions(webhook: string) {
  const queries = useQueryClient();
  const act = async <T>(title: string, path: string, body?: unknown): Promise<T | undefined> => {
    try {
      const { document } = await send<{ data: T }>("POST", `${pathOf("webhook", webhook)}/${path}`, { body });
      void queries.invalidateQueries({ queryKey: ["webhook"] });
      return document.data;
    } catch (failure) {
      sayFailure(title, asApiError(failure));
      return undefined;
    }
  };
  const [busy, once] = useOnce((action: () => Promise<unknown>) => action());
  return {
    busy,
    once,
    test: () => act<Delivery>("Send a test", "actions/test"),
    sendAgain: (delivery: string) => act<Delivery>("Send again", `deliveries/${delivery}/actions/redeliver`),
  };
}
