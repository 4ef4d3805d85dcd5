import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/loggers",
  validateSearch: pick("q", "view", "managed", "group", "service", "level", "only", "open"),
  component: lazyRouteComponent(() => import("./LoggerList")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/loggers/$id",
  validateSearch: pick("tab"),
  component: lazyRouteComponent(() => import("./LoggerDetail")),
});
const groups = createRoute({
  getParentRoute: () => frame,
  path: "/log-groups",
  component: lazyRouteComponent(() => import("./GroupList")),
});
const group = createRoute({
  getParentRoute: () => frame,
  path: "/log-groups/$id",
  validateSearch: pick("tab"),
  component: lazyRouteComponent(() => import("./GroupDetail")),
});

export const loggerRoutes = [list, detail, groups, group] as const;
