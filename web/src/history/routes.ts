import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/history",
  validateSearch: pick("kind", "id", "actor", "from", "to", "sessions", "change"),
  component: lazyRouteComponent(() => import("./HistoryList")),
});

export const historyRoutes = [list] as const;
