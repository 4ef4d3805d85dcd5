import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";

const list = createRoute({ getParentRoute: () => frame, path: "/jobs", component: lazyRouteComponent(() => import("./JobList")) });

export const jobRoutes = [list] as const;
