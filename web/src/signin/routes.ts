import { createRoute } from "@tanstack/react-router";
import { frame, root } from "../app/roots";
import { pick } from "../app/search";
import { screenOf } from "../ui/later";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: pick("next", "error"),
  component: screenOf(() => import("./SignIn")),
});

const redeem = screenOf(() => import("./RedeemLink"));
const setup = createRoute({ getParentRoute: () => root, path: "/setup", validateSearch: pick("token"), component: redeem });
const join = createRoute({ getParentRoute: () => root, path: "/join", validateSearch: pick("token"), component: redeem });
const reset = createRoute({ getParentRoute: () => root, path: "/reset", validateSearch: pick("token"), component: redeem });

export const signInRoutes = [signIn, setup, join, reset] as const;

/** terminal is for signed-in users; signalbox login names its address. */
export const terminal = createRoute({
  getParentRoute: () => frame,
  path: "/terminal",
  component: screenOf(() => import("./Terminal")),
});
