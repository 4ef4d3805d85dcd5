import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/people",
  validateSearch: pick("q", "sort", "id", "new"),
  component: screenOf(() => import("./People")),
});

export const peopleRoutes = [list] as const;
