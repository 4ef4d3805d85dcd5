import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const screen = createRoute({ getParentRoute: () => frame, path: "/settings", component: lazyRouteComponent(() => import("./Settings")) });

export const settingsRoutes = [screen] as const;
