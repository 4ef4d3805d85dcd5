import { type QueryClient, queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ApiError, send } from "./client";
import type { Role } from "./kinds";
import { listOf } from "./queries";
import type { components } from "./schema";

type Schemas = components["schemas"];

export interface Me {
  session: Schemas["Session"];
  user: Schemas["User"];
  account: Schemas["Account"];
}

/** meOptions describes the query of the signed-in user; null means that nobody is signed in. */
export const meOptions = queryOptions({
  queryKey: ["settings", "me"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ client }): Promise<Me | null> => {
    const anonymous = !client.getQueryData(["settings", "me"]); // later the page asks to sign in again
    try {
      const [session, user, account] = await Promise.all([
        send<Schemas["SessionDocument"]>("GET", "/api/v1/sessions/current", { anonymous }),
        send<Schemas["UserDocument"]>("GET", "/api/v1/users/current", { anonymous }),
        send<Schemas["AccountDocument"]>("GET", "/api/v1/accounts/current", { anonymous }),
      ]);
      return { session: session.document.data, user: user.document.data, account: account.document.data };
    } catch (failure) {
      if (anonymous && failure instanceof ApiError && failure.status === 401) return null;
      throw failure;
    }
  },
});

/** useMe returns the signed-in user. The frame is rendered only when there is one. */
export function useMe(): Me {
  const { data } = useSuspenseQuery(meOptions);
  if (!data) throw new ApiError(401, "unauthorized", "Sign in first.", "");
  return data;
}

const ranks: Record<Role, number> = { VIEWER: 0, MEMBER: 1, ADMIN: 2, OWNER: 3 };

/** refusalFor returns the reason why a session lacks a right, or undefined if it has the right. */
export function refusalFor(session: Schemas["SessionAttributes"], needs: Role, environment?: string): string | undefined {
  if (ranks[session.role] < ranks[needs]) return `Requires the role ${named(needs)}.`;
  const scope = session.scopes.environments;
  if (!scope) return undefined;
  if (environment === undefined) return `Your key may only write values of ${scope.join(", ")}.`;
  return scope.includes(environment) ? undefined : `Your key may not write values of ${environment}.`;
}

/** rolesBelow returns the roles that a user may give: their own role and lower ones. */
export function rolesBelow(own: Role): Role[] {
  return (Object.keys(ranks) as Role[]).filter((role) => ranks[role] <= ranks[own]);
}

const named = (role: Role) => role.charAt(0) + role.slice(1).toLowerCase();

export interface Environment {
  id: string;
  name: string;
  color: string | null;
  managed: boolean;
  classification: Schemas["Classification"];
}

const preferenceOptions = queryOptions({
  queryKey: ["settings", "order"],
  queryFn: async () => {
    const { document } = await send<Schemas["UserSettingsDocument"]>("GET", "/api/v1/users/current/settings");
    return document.data.attributes as { environment_order?: string[] } & Record<string, unknown>;
  },
});

/** usePreferences returns the user's own settings. */
export const usePreferences = () => useQuery(preferenceOptions);

const environmentOptions = listOf("environment", { "page[size]": 1000 });

/** prefetchSession loads the data that every screen needs, at once and before the first screen is rendered. */
export function prefetchSession(queries: QueryClient): void {
  for (const options of [meOptions, preferenceOptions, environmentOptions]) void queries.prefetchQuery(options as typeof meOptions);
}

/** useEnvironments returns all environments: first those in the user's order (or the account's, if the user has none), then the others by name. */
export function useEnvironments(): Environment[] {
  const { data: list } = useQuery(environmentOptions);
  const { data: preferences, isPending } = usePreferences();
  const order = preferences?.environment_order;
  return useMemo(() => {
    if (isPending) return []; // columns that move while they are read confuse people
    const environments = (list?.data ?? []).map(({ id, attributes }) => ({ id, ...attributes }));
    return inOrder(environments, order ?? []);
  }, [list, order, isPending]);
}

/** inOrder sorts by a list of ids; environments that are not in it come last, by name. */
export function inOrder<E extends { id: string; name: string }>(environments: E[], order: string[]): E[] {
  const rank = new Map(order.map((id, index) => [id, index]));
  const of = (environment: E) => rank.get(environment.id) ?? order.length;
  return environments.toSorted((one, other) => of(one) - of(other) || one.name.localeCompare(other.name));
}

/**
 * columnsOf returns the environments that lists have columns for: those in focus or, without a focus, all
 * that are managed or STANDARD.
 */
export function columnsOf(environments: Environment[], focus: string[] = []): Environment[] {
  const focused = environments.filter((environment) => focus.includes(environment.id));
  if (focused.length > 0) return focused;
  return environments.filter((environment) => environment.managed || environment.classification === "STANDARD");
}
