import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/services", component: lazyRouteComponent(() => import("./ServiceList")) });

export const serviceRoutes = [list] as const;
