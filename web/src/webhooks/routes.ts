import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/webhooks",
  validateSearch: pick("q"),
  component: screenOf(() => import("./WebhookList")),
});
const create = createRoute({
  getParentRoute: () => frame,
  path: "/webhooks/new",
  component: screenOf(() => import("./NewWebhook")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/webhooks/$id",
  validateSearch: pick("tab", "status", "delivery"),
  component: screenOf(() => import("./WebhookDetail")),
});

export const webhookRoutes = [list, create, detail] as const;
