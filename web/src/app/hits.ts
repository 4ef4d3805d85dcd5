import { type Kind, placeOf, wordFor } from "../api/kinds";

/** Doing is an action that concerns no resource. */
export type Doing = "sign-out" | "light" | "dark" | "auto";

/** Hit is a line of the palette: it leads to an address, runs a job, or does something else. */
export interface Hit {
  id: string;
  label: string;
  hint: string;
  href?: string;
  /** run is the job that the hit runs. */
  run?: string;
  does?: Doing;
}

/** Found is a resource that matches the search. */
export interface Found {
  kind: Kind;
  id: string;
  name: string;
}

/** simple are the actions that need no resource; `also` has other words that people type for them. */
const simple: { words: string; also?: string; href?: string; does?: Doing }[] = [
  { words: "New flag", href: "/flags?new=1" },
  { words: "New config", href: "/configs?new=1" },
  { words: "New job", href: "/jobs/new" },
  { words: "New key", href: "/keys?new=1" },
  { words: "New webhook", href: "/webhooks/new" },
  { words: "New environment", href: "/environments?new=1" },
  { words: "Invite somebody", href: "/people?new=1" },
  { words: "Light theme", also: "light mode", does: "light" },
  { words: "Dark theme", also: "dark mode", does: "dark" },
  { words: "Theme of the system", also: "auto theme", does: "auto" },
  { words: "Sign out", also: "log out, logout", does: "sign-out" },
];

/** Verb begins a command. A verb with a kind acts on resources of this kind only. */
interface Verb {
  words: string;
  kind?: Kind;
}

// A longer verb is before the shorter one that it begins with.
const verbs: Verb[] = [
  { words: "set level of", kind: "logger" },
  { words: "set level", kind: "logger" },
  { words: "set", kind: "logger" },
  { words: "level of", kind: "logger" },
  { words: "level", kind: "logger" },
  { words: "run job", kind: "job" },
  { words: "run", kind: "job" },
  { words: "go to" },
  { words: "open" },
  { words: "find" },
];

/** commandOf splits a text into its verb, if it has one, and the part that names a resource or a screen: "run nightly" looks for nightly. */
export function commandOf(text: string): { verb?: Verb; name: string } {
  const typed = text.trim().replace(/\s+/g, " ");
  const verb = verbs.find(({ words }) => `${typed} `.toLowerCase().startsWith(`${words} `));
  return { verb, name: verb ? typed.slice(verb.words.length).trim() : typed };
}

/** actionsFor returns the actions that fit a text: those without a resource, and actions on the found resources. */
export function actionsFor(text: string, found: Found[]): Hit[] {
  const wanted = text.trim().toLowerCase();
  const acts = simple
    .filter(({ words, also = "" }) => wanted !== "" && `${words}, ${also}`.toLowerCase().includes(wanted))
    .map(({ words, href, does }) => ({ id: `action:${words}`, label: words, hint: "action", href, does }));
  return [...acts, ...found.flatMap(actionOn)];
}

function actionOn({ kind, id }: Found): Hit[] {
  const href = placeOf(kind, id);
  if (kind === "logger") return [{ id: `level:${id}`, label: `Set level of ${id}…`, hint: "action", href }];
  if (kind === "job") return [{ id: `run:${id}`, label: `Run job ${id} now`, hint: "action", href, run: id }];
  if (kind !== "context") return [];
  return [
    { id: `gets:${id}`, label: `What does ${id} get?`, hint: "action", href: `/services/contexts/gets?of=${encodeURIComponent(id)}` },
  ];
}

/** hitOf leads to a resource. */
export function hitOf({ kind, id, name }: Found): Hit {
  return {
    id: `${kind}:${id}`,
    label: isUUID(id) ? name : id,
    hint: name === id || isUUID(id) ? wordFor(kind) : `${name} · ${wordFor(kind)}`,
    href: addressOf(kind, id),
  };
}

const isUUID = (id: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id);

function addressOf(kind: Kind, id: string): string {
  const of = encodeURIComponent(id);
  if (kind === "context") return `/services/contexts?id=${of}`;
  const place = placeOf(kind, id) ?? "/";
  return ["environment", "service", "user", "api_key"].includes(kind) ? `${place}?id=${of}` : place;
}

/** itemHits leads to items of configs whose key has the text. */
export function itemHits(configs: { id: string; attributes: { items: object } }[], text: string): Hit[] {
  const wanted = text.toLowerCase();
  if (wanted === "") return [];
  return configs
    .flatMap(({ id, attributes }) =>
      Object.keys(attributes.items)
        .filter((key) => key.toLowerCase().includes(wanted))
        .map((key) => ({
          id: `item:${id}:${key}`,
          label: key,
          hint: `${id} · config item`,
          href: `/configs/${encodeURIComponent(id)}?q=${encodeURIComponent(key)}`,
        })),
    )
    .slice(0, 6);
}
