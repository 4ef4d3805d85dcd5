import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { type Query, send } from "./client";
import { type Collection, pathOf, type Resource } from "./kinds";

type Logger = Resource<"logger">;

/** below is the key that stands for a logger and those below it, which inherit from it. */
export const below = (id: string): QueryKey => ["logger", "below", id];

const isBelow = ([kind, part]: QueryKey) => kind === "logger" && part === "below";

/** few is how many loggers are read one by one; for more, whole lists are read. */
const few = 3;

/** refresh reads again what the keys of concerned name. */
export function refresh(queries: QueryClient, keys: QueryKey[]): void {
  const loggers = keys.filter(isBelow);
  const isFew = loggers.length <= few;
  const others = keys.filter((key) => !isBelow(key));
  for (const queryKey of isFew ? others : [...others, ["logger"]]) void queries.invalidateQueries({ queryKey });
  if (isFew) for (const [, , id] of loggers) void readBelow(queries, String(id));
}

const isWhole = ([kind, , , all]: QueryKey) => kind === "logger" && all === "all";

// One after the other: an older answer must not replace a newer one.
let reading = Promise.resolve();

/**
 * readBelow reads a logger and those below it, and puts them into the lists that are shown: a list of 10,000 loggers is not
 * read again for one change. What is known of single loggers is small, so all of it is read again.
 */
function readBelow(queries: QueryClient, id: string): Promise<void> {
  void queries.invalidateQueries({ queryKey: ["logger"], predicate: ({ queryKey }) => !isWhole(queryKey) });
  reading = reading.then(async () => {
    const lists = queries.getQueryCache().findAll({ predicate: ({ queryKey }) => isWhole(queryKey) });
    for (const list of lists) {
      const { queryKey, state } = list;
      const isShown = list.isActive() && state.fetchStatus === "idle" && state.data !== undefined;
      const found = isShown ? await search(queryKey[2] as Query, id) : undefined;
      if (found) queries.setQueryData(queryKey, (old: Logger[]) => withBelow(old, id, found));
      else void queries.invalidateQueries({ queryKey, exact: true });
    }
  });
  return reading;
}

const most = 1000;

/** search returns the loggers that have an id in their names, or undefined if they are too many or cannot be read. */
async function search(query: Query, id: string): Promise<Logger[] | undefined> {
  const asked = { ...query, "filter[search]": id, "page[size]": most, "meta[total]": true };
  const answer = await send<Collection<"logger">>("GET", pathOf("logger"), { query: asked }).catch(() => undefined);
  return answer && (answer.document.meta.pagination.total ?? 0) <= most ? answer.document.data : undefined;
}

/** withBelow returns a list with the loggers that were found in place of a logger and those below it. */
export function withBelow(list: Logger[], id: string, found: Logger[]): Logger[] {
  const fresh = new Map(found.filter((logger) => isAtOrBelow(logger, id)).map((logger) => [logger.id, logger]));
  const kept = list.flatMap((logger) => {
    if (!isAtOrBelow(logger, id)) return [logger];
    const newer = fresh.get(logger.id);
    fresh.delete(logger.id);
    return newer ? [newer] : [];
  });
  return fresh.size === 0 ? kept : [...kept, ...fresh.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

const isAtOrBelow = (logger: Logger, id: string) => logger.id === id || logger.id.startsWith(`${id}.`);
