import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/plan", component: lazyRouteComponent(() => import("./Plan")) });

export const planRoutes = [list] as const;
