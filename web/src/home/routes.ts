import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/", component: lazyRouteComponent(() => import("./Home")) });

export const homeRoutes = [list] as const;
