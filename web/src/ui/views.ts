/** View is a list as somebody filtered it, under a name of theirs. */
export interface View {
  name: string;
  /** search are the parameters of the address. */
  search: Record<string, string>;
}

type Store = Pick<Storage, "getItem" | "setItem">;

const place = (user: string, screen: string) => `views:${user}:${screen}`;

/** viewsOf returns the views that a user has saved of a screen, by name. */
export function viewsOf(store: Store | undefined, user: string, screen: string): View[] {
  try {
    return JSON.parse(store?.getItem(place(user, screen)) ?? "[]");
  } catch {
    return [];
  }
}

/** saveView keeps a view in place of one with its name. Without a search it removes that one. */
export function saveView(store: Store | undefined, user: string, screen: string, name: string, search?: Record<string, string>): void {
  const others = viewsOf(store, user, screen).filter((view) => view.name !== name);
  const views = search ? [...others, { name, search }].sort((a, b) => a.name.localeCompare(b.name)) : others;
  try {
    store?.setItem(place(user, screen), JSON.stringify(views));
  } catch {} // a full storage must not stop people from working
}

/** isShown reports whether an address shows a view. */
export function isShown(view: View, search: Record<string, string | undefined>): boolean {
  const given = Object.entries(search).filter(([, value]) => value);
  return given.length === Object.keys(view.search).length && given.every(([name, value]) => view.search[name] === value);
}
