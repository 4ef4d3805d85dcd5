import { createRoute } from "@tanstack/react-router";
import { frame } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const services = createRoute({
  getParentRoute: () => frame,
  path: "/services",
  validateSearch: pick("q", "sort", "id"),
  component: screenOf(() => import("./ServiceList")),
});

const contexts = createRoute({
  getParentRoute: () => frame,
  path: "/services/contexts",
  validateSearch: pick("q", "type", "sort", "id"),
  component: screenOf(() => import("./ContextList")),
});

const gets = createRoute({
  getParentRoute: () => frame,
  path: "/services/contexts/gets",
  validateSearch: pick("of", "q", "only"),
  component: screenOf(() => import("./Gets")),
});

export const serviceRoutes = [services, contexts, gets] as const;
