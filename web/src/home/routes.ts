import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const home = createRoute({ getParentRoute: () => frame, path: "/", component: lazyRouteComponent(() => import("./Home")) });

export const homeRoutes = [home] as const;
