import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/keys", component: lazyRouteComponent(() => import("./KeyList")) });

export const keyRoutes = [list] as const;
