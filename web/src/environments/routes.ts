import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/environments",
  validateSearch: pick("id", "new"),
  component: lazyRouteComponent(() => import("./EnvironmentList")),
});

export const environmentRoutes = [list] as const;
