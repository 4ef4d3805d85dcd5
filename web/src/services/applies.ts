import type { Resource } from "../api/kinds";

/** Applied is the level that a service reports for a logger in an environment, and the level that it should use. */
export interface Applied {
  id: string;
  environment: string;
  reported: string;
  /** wanted is absent for a logger that nobody manages: the service's own level counts. */
  wanted?: string;
  lastSeen: string | null;
}

/** appliedBy returns the levels that a service reports; those that differ from the wanted ones come first. */
export function appliedBy(service: string, loggers: Resource<"logger">[]): Applied[] {
  const found = loggers.flatMap(({ id, attributes }) =>
    attributes.sources
      .filter((source) => source.service === service)
      .map(({ environment, resolved_level, last_seen }) => ({
        id,
        environment,
        reported: resolved_level as string,
        wanted: attributes.managed ? attributes.resolved?.[environment]?.level : undefined,
        lastSeen: last_seen,
      })),
  );
  const rank = (each: Applied) => (isPending(each) ? 0 : each.wanted ? 1 : 2);
  return found.toSorted((one, other) => rank(one) - rank(other) || one.id.localeCompare(other.id));
}

/** isPending reports whether a service does not use the level that it should. */
export const isPending = ({ reported, wanted }: Applied) => wanted !== undefined && wanted !== reported;

const told = new Set(["flag", "logger", "log_group", "config", "environment"]);

/** late is how old the last known number of a connection may be, in milliseconds, with some time to spare. */
const late = 30_000;

/**
 * missedBy returns how many of the newest changes a connection has missed. Changes of the last seconds do
 * not count, because they may be on their way.
 */
export function missedBy(seq: number, changes: Resource<"change">[], now: number): number {
  return changes.filter(
    ({ id, attributes }) => told.has(attributes.kind) && Number(id) > seq && now - Date.parse(attributes.created_at) > late,
  ).length;
}
