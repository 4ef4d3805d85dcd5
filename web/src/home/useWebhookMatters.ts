import { useQueries, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { pathOf, type Resource } from "../api/kinds";
import { keyOf, listOf } from "../api/queries";
import type { components } from "../api/schema";
import { refusalFor, useMe } from "../api/session";
import { newest } from "../ui/requests";
import { disabledWebhook, failingWebhook, type Matter } from "./attention";

type Deliveries = components["schemas"]["WebhookDeliveryStream"];

const refetchInterval = 30_000; // deliveries send no events

/** most is the number of webhooks for which the reason is looked up. An account has 50 at most. */
const most = 20;

/** useWebhookMatters returns the failing webhooks and the webhooks that the server has disabled, with the reason. Only admins see them. */
export function useWebhookMatters(): Matter[] {
  const isAdmin = refusalFor(useMe().session.attributes, "ADMIN") === undefined;
  const list = useQuery({ ...listOf("webhook", { "page[size]": 200 }), enabled: isAdmin, refetchInterval });
  const troubled = (list.data?.data ?? []).filter(({ attributes: { state } }) => state !== "ok").slice(0, most);
  const matters = useQueries({
    queries: troubled.map((webhook) => ({
      queryKey: [...keyOf.one("webhook", webhook.id), "trouble", webhook.attributes.state],
      queryFn: () => troubleOf(webhook),
      refetchInterval,
    })),
  });
  return matters.flatMap(({ data }) => data ?? []);
}

async function troubleOf(webhook: Resource<"webhook">): Promise<Matter | null> {
  if (webhook.attributes.state === "disabled") return disabledWebhook(webhook, await newest("webhook", webhook.id));
  const query = { "page[size]": 10 };
  const { document } = await send<Deliveries>("GET", `${pathOf("webhook", webhook.id)}/deliveries`, { query });
  return failingWebhook(webhook, document.data);
}
