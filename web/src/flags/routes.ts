import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";
import { pageOf } from "../ui/usePages";
import { queryOf } from "./useFlags";

const list = createRoute({
  getParentRoute: () => frame,
  path: "/flags",
  validateSearch: pick("q", "type", "managed", "references", "stale", "sort", "columns", "new"),
  component: screenOf(() => import("./FlagList")),
  staticData: { prefetch: (queries, search) => void queries.prefetchQuery(pageOf("flag", queryOf(search), 1)) },
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/flags/$id",
  validateSearch: pick("tab", "rule", "period", "in"),
  component: screenOf(() => import("./FlagDetail")),
});

export const flagRoutes = [list, detail] as const;
