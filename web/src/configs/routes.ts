import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/configs",
  validateSearch: pick("q", "sort", "columns", "new"),
  component: screenOf(() => import("./ConfigList")),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/configs/$id",
  validateSearch: pick("tab", "q", "edit", "item", "add", "settings", "from", "to", "all"),
  component: screenOf(() => import("./ConfigDetail")),
});

export const configRoutes = [list, detail] as const;
