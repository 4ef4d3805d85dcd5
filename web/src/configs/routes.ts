import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/configs", component: lazyRouteComponent(() => import("./ConfigList")) });

export const configRoutes = [list] as const;
