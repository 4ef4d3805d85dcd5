import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/loggers",
  validateSearch: pick("q", "view", "managed", "group", "service", "level", "only", "sort", "open"),
  component: screenOf(() => import("./LoggerList")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/loggers/$id",
  validateSearch: pick("tab"),
  component: screenOf(() => import("./LoggerDetail")),
});
const groups = createRoute({
  getParentRoute: () => frame,
  path: "/log-groups",
  validateSearch: pick("new"),
  component: screenOf(() => import("./GroupList")),
});
const group = createRoute({
  getParentRoute: () => frame,
  path: "/log-groups/$id",
  validateSearch: pick("tab"),
  component: screenOf(() => import("./GroupDetail")),
});

export const loggerRoutes = [list, detail, groups, group] as const;
