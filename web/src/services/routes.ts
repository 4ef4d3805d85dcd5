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

export const serviceRoutes = [services, contexts] as const;
