import { places } from "./places";

/** extra has the titles of screens that are not in the rail. */
const extra: Record<string, string> = { "/log-groups": "Groups", "/terminal": "Sign in a terminal" };

/** titleOf returns the title of a page, by which people find its tab: first the shown resource, then the screen. */
export function titleOf(pathname: string): string {
  const [, screen = "", ...rest] = pathname.split("/");
  const path = `/${screen}`;
  const label = places.find(({ to }) => to === path)?.label ?? extra[path];
  const parts = rest.length > 2 ? ["Run", decodeURIComponent(rest[0] ?? "")] : rest.map(decodeURIComponent);
  return [...parts, label, "Signalbox"].filter(Boolean).join(" · ");
}
