import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/jobs",
  validateSearch: pick("q", "status", "enabled", "sort"),
  component: lazyRouteComponent(() => import("./JobList")),
});
const create = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/new",
  component: lazyRouteComponent(() => import("./NewJob")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/$id",
  validateSearch: pick("tab", "status", "trigger", "day"),
  component: lazyRouteComponent(() => import("./JobDetail")),
});
const run = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/$id/runs/$run",
  component: lazyRouteComponent(() => import("./RunDetail")),
});

export const jobRoutes = [list, create, detail, run] as const;
