import type { QueryClient } from "@tanstack/react-query";
import { type AnyRouter, createRouter } from "@tanstack/react-router";
import { configRoutes } from "../configs/routes";
import { environmentRoutes } from "../environments/routes";
import { flagRoutes } from "../flags/routes";
import { historyRoutes } from "../history/routes";
import { homeRoutes } from "../home/routes";
import { jobRoutes } from "../jobs/routes";
import { keyRoutes } from "../keys/routes";
import { loggerRoutes } from "../loggers/routes";
import { peopleRoutes } from "../people/routes";
import { planRoutes } from "../plan/routes";
import { serviceRoutes } from "../services/routes";
import { settingsRoutes } from "../settings/routes";
import { signInRoutes, terminal } from "../signin/routes";
import { webhookRoutes } from "../webhooks/routes";
import { Crash, Missing } from "./Fallbacks";
import { frame, root } from "./roots";
import { parse, type Search, stringify } from "./search";

const tree = root.addChildren([
  ...signInRoutes,
  frame.addChildren([
    ...homeRoutes,
    ...flagRoutes,
    ...loggerRoutes,
    ...configRoutes,
    ...jobRoutes,
    ...historyRoutes,
    ...environmentRoutes,
    ...serviceRoutes,
    ...peopleRoutes,
    ...keyRoutes,
    ...webhookRoutes,
    ...planRoutes,
    ...settingsRoutes,
    terminal,
  ]),
]);

export function newRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree: tree,
    context: { queries },
    parseSearch: parse,
    stringifySearch: stringify,
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: Crash,
    defaultNotFoundComponent: Missing,
  });
  startScreen(router, queries);
  return router;
}

// startScreen loads the screen and its data while the server answers who is signed in.
function startScreen(router: AnyRouter, queries: QueryClient): void {
  const { pathname, search } = router.latestLocation;
  for (const route of router.getMatchedRoutes(pathname)[0]) {
    route.options.staticData?.prefetch?.(queries, search);
    void router.loadRouteChunk(route);
  }
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof newRouter>;
  }
  interface StaticDataRouteOption {
    /** prefetch loads the first data of a screen when the console is opened there. */
    prefetch?: (queries: QueryClient, search: Search) => void;
  }
}
