import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { screenOf } from "../ui/later";

const screen = createRoute({ getParentRoute: () => frame, path: "/settings", component: screenOf(() => import("./Settings")) });

export const settingsRoutes = [screen] as const;
