import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/jobs",
  validateSearch: pick("q", "status", "enabled", "health", "sort", "columns"),
  component: screenOf(() => import("./JobList")),
});
const create = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/new",
  component: screenOf(() => import("./NewJob")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/$id",
  validateSearch: pick("tab", "status", "trigger", "day"),
  component: screenOf(() => import("./JobDetail")),
});
const run = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/$id/runs/$run",
  component: screenOf(() => import("./RunDetail")),
});

export const jobRoutes = [list, create, detail, run] as const;
