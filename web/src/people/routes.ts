import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/people",
  validateSearch: pick("q", "id", "new"),
  component: lazyRouteComponent(() => import("./People")),
});

export const peopleRoutes = [list] as const;
