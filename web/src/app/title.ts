import { places } from "./places";

/** extra has the titles of screens that are not in the rail. */
const extra: Record<string, string> = { "/log-groups": "Groups", "/terminal": "Sign in a terminal" };

/** pages have the titles of pages whose address names no resource. */
const pages: Record<string, string> = {
  "/services/contexts": "Contexts",
  "/services/contexts/gets": "What a context gets",
  "/jobs/new": "New job",
  "/webhooks/new": "New webhook",
};

export const missingTitle = "Page not found · Signalbox";

/** titleOf returns the title of a page, by which people find its tab: first the shown resource, then the screen. */
export function titleOf(pathname: string): string {
  const [, screen = "", ...rest] = pathname.split("/");
  const path = `/${screen}`;
  const label = places.find(({ to }) => to === path)?.label ?? extra[path];
  if (!label) return missingTitle;
  return [...partsOf(pathname, rest), label, "Signalbox"].filter(Boolean).join(" · ");
}

function partsOf(pathname: string, rest: string[]): string[] {
  const page = pages[pathname];
  if (page) return [page];
  return rest.length > 2 ? ["Run", decodeURIComponent(rest[0] ?? "")] : rest.map(decodeURIComponent);
}
