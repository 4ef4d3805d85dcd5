import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/settings", component: lazyRouteComponent(() => import("./Settings")) });

export const settingsRoutes = [list] as const;
