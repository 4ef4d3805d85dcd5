import { useQueryClient } from "@tanstack/react-query";
import { load } from "../api/queries";
import { usePreferences } from "../api/session";
import { same } from "./diff";
import { useWriter } from "./WriteProvider";

/** View is a saved filter of a list. */
export interface View {
  /** screen is the path of the list. */
  screen: string;
  name: string;
  /** search are the parameters of the address. */
  search: Record<string, string>;
}

const isText = (value: unknown): value is string => typeof value === "string";

/**
 * viewsIn returns the views in the user's settings. Scripts may write these settings too, so anything that
 * is not a view is skipped.
 */
export function viewsIn(settings: Record<string, unknown> | undefined): View[] {
  const kept = settings?.views;
  if (!Array.isArray(kept)) return [];
  return kept.filter(
    (view): view is View =>
      isText(view?.screen) && isText(view.name) && typeof view.search === "object" && Object.values(view.search ?? {}).every(isText),
  );
}

/**
 * withView returns the views with one added, which replaces a view of the same name. Without a search, the
 * view of that name is removed.
 */
export function withView(views: View[], screen: string, name: string, search?: Record<string, string>): View[] {
  const others = views.filter((view) => view.screen !== screen || view.name !== name);
  return search ? [...others, { screen, name, search }].sort((a, b) => a.name.localeCompare(b.name)) : others;
}

/** panels are the parameters of an address that open a form, a panel or a branch; they are no part of a view. */
const panels = new Set(["new", "id", "open"]);

/** keptOf returns the parameters of an address that a view keeps. */
export function keptOf(search: Record<string, string | undefined>): Record<string, string> {
  const given = Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(given.filter(([name]) => !panels.has(name)));
}

/** isShown reports whether an address shows a view. */
export const isShown = (view: View, search: Record<string, string | undefined>): boolean => same(keptOf(search), keptOf(view.search));

/** useViews returns the user's views of a list, and a function that saves one, or removes it without a search. */
export function useViews(screen: string) {
  const { data: preferences } = usePreferences();
  const writer = useWriter();
  const queries = useQueryClient();
  const views = viewsIn(preferences).filter((view) => view.screen === screen);
  const keep = async (name: string, search?: Record<string, string>) => {
    const account = await load("account_settings", "current").catch(() => undefined);
    await writer.attempt({
      kind: "user_settings",
      id: "current",
      title: search ? `Save the view ${name}` : `Remove the view ${name}`,
      done: search ? `Saved the view ${name}.` : `Removed the view ${name}.`,
      final: true,
      change: (current) => {
        // Without an order of their own, users read the account's; written back, it would no longer follow the account.
        const { environment_order, ...others } = current ?? {};
        const own = same(environment_order, account?.resource.attributes.environment_order) ? {} : { environment_order };
        return { ...others, ...own, views: withView(viewsIn(current), screen, name, search) };
      },
    });
    await queries.invalidateQueries({ queryKey: ["settings"] });
  };
  return { views, keep };
}
