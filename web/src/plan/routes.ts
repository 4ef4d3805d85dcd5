import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { screenOf } from "../ui/later";

const list = createRoute({ getParentRoute: () => frame, path: "/plan", component: screenOf(() => import("./Plan")) });

export const planRoutes = [list] as const;
