import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/loggers", component: lazyRouteComponent(() => import("./LoggerList")) });

export const loggerRoutes = [list] as const;
