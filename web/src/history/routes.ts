import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/history", component: lazyRouteComponent(() => import("./HistoryList")) });

export const historyRoutes = [list] as const;
