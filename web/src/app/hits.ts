import { type Kind, placeOf, wordFor } from "../api/kinds";

/** Hit is a line of the palette: it leads to an address, or runs a job. */
export interface Hit {
  id: string;
  label: string;
  hint: string;
  href: string;
  /** run is the job that the hit runs. */
  run?: string;
}

/** Found is a resource that matches the search. */
export interface Found {
  kind: Kind;
  id: string;
  name: string;
}

const making: { words: string; href: string }[] = [
  { words: "New flag", href: "/flags?new=1" },
  { words: "New config", href: "/configs?new=1" },
  { words: "New job", href: "/jobs/new" },
  { words: "New key", href: "/keys?new=1" },
  { words: "New webhook", href: "/webhooks/new" },
  { words: "New environment", href: "/environments?new=1" },
  { words: "Invite somebody", href: "/people?new=1" },
];

const verbs = /^(set level of|set level|set|level|run job|run|open|go to|find)\s+/i;

/** searched returns the part of a text that names a resource: "run nightly" looks for nightly. */
export const searched = (text: string): string => text.trim().replace(verbs, "");

/**
 * actionsFor returns the actions that fit a text: forms for new resources, and actions on the found
 * resources.
 */
export function actionsFor(text: string, found: Found[]): Hit[] {
  const wanted = text.trim().toLowerCase();
  const created = making
    .filter(({ words }) => wanted !== "" && words.toLowerCase().includes(wanted))
    .map(({ words, href }) => ({ id: `new:${href}`, label: words, hint: "action", href }));
  const acts = found.flatMap(({ kind, id }): Hit[] => {
    if (kind === "logger") return [{ id: `level:${id}`, label: `Set level of ${id}…`, hint: "action", href: `${placeOf(kind, id)}` }];
    if (kind === "job") return [{ id: `run:${id}`, label: `Run job ${id} now`, hint: "action", href: `${placeOf(kind, id)}`, run: id }];
    if (kind === "context")
      return [
        { id: `gets:${id}`, label: `What does ${id} get?`, hint: "action", href: `/services/contexts/gets?of=${encodeURIComponent(id)}` },
      ];
    return [];
  });
  return [...created, ...acts];
}

/** isCommand reports whether a text begins with a verb, so that actions come before resources. */
export const isCommand = (text: string): boolean => verbs.test(text);

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
