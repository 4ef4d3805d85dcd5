import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/environments",
  component: lazyRouteComponent(() => import("./EnvironmentList")),
});

export const environmentRoutes = [list] as const;
