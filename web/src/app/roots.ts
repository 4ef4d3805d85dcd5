import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect, retainSearchParams } from "@tanstack/react-router";
import { meOptions } from "../api/session";
import { Frame } from "./Frame";
import { pick } from "./search";

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet });

/** frame is the parent of every screen. Visitors who are not signed in are sent to the sign-in and then back. */
export const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Frame,
  validateSearch: pick("env"),
  search: { middlewares: [retainSearchParams(["env"])] },
  beforeLoad: async ({ context, location }) => {
    const me = await context.queries.ensureQueryData(meOptions);
    if (me === null) throw redirect({ to: "/sign-in", search: { next: location.href } });
  },
});
