import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/people", component: lazyRouteComponent(() => import("./People")) });

export const peopleRoutes = [list] as const;
