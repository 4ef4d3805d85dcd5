import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { type Query, send } from "./client";
import { type Collection, pathOf, type Resource } from "./kinds";

type Logger = Resource<"logger">;

/** below returns the query key for a logger and its descendants, which inherit its level. */
export const below = (id: string): QueryKey => ["logger", "below", id];

const isBelow = ([kind, part]: QueryKey) => kind === "logger" && part === "below";

/** few is how many loggers are read one by one. If more have changed, the whole lists are read again. */
const few = 3;

/** refresh reads the queries again whose keys concerned has returned. */
export function refresh(queries: QueryClient, keys: QueryKey[]): void {
  const loggers = keys.filter(isBelow);
  const isFew = loggers.length <= few;
  const others = keys.filter((key) => !isBelow(key));
  for (const queryKey of isFew ? others : [...others, ["logger"]]) void queries.invalidateQueries({ queryKey });
  if (isFew) for (const [, , id] of loggers) void readBelow(queries, String(id));
}

const isWhole = ([kind, , , all]: QueryKey) => kind === "logger" && all === "all";

// Reads come one after the other, so that an older answer does not replace a newer one.
let reading = Promise.resolve();

/**
 * readBelow reads a logger and its descendants, and puts them into the lists that are shown, so that a list of 10,000
 * loggers is not read again for one change. Queries of single loggers are small, so all of them are read again.
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

/** withBelow returns a list in which a logger and its descendants are replaced by the loggers that were found. */
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
