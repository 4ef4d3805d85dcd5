import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/flags", component: lazyRouteComponent(() => import("./FlagList")) });

export const flagRoutes = [list] as const;
