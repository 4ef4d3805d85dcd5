import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";

const services = createRoute({
  getParentRoute: () => frame,
  path: "/services",
  validateSearch: pick("q", "id"),
  component: lazyRouteComponent(() => import("./ServiceList")),
});

const contexts = createRoute({
  getParentRoute: () => frame,
  path: "/services/contexts",
  validateSearch: pick("q", "type", "id"),
  component: lazyRouteComponent(() => import("./ContextList")),
});

const gets = createRoute({
  getParentRoute: () => frame,
  path: "/services/contexts/gets",
  validateSearch: pick("of", "q", "only"),
  component: lazyRouteComponent(() => import("./Gets")),
});

export const serviceRoutes = [services, contexts, gets] as const;
