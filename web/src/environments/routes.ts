import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/environments",
  validateSearch: pick("id", "new"),
  component: screenOf(() => import("./EnvironmentList")),
});

export const environmentRoutes = [list] as const;
