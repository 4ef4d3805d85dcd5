import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/keys",
  validateSearch: pick("q", "id", "new"),
  component: lazyRouteComponent(() => import("./KeyList")),
});

export const keyRoutes = [list] as const;
