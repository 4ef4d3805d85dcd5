import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { screenOf } from "../ui/later";

const home = createRoute({ getParentRoute: () => frame, path: "/", component: screenOf(() => import("./Home")) });

export const homeRoutes = [home] as const;
