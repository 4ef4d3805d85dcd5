import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/history",
  validateSearch: pick("kind", "id", "actor", "from", "to", "sessions", "change"),
  component: screenOf(() => import("./HistoryList")),
});

export const historyRoutes = [list] as const;
