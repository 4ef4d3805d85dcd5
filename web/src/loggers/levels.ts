import type { Kinds, Level, Resource } from "../api/kinds";

export type Logger = Resource<"logger">;
type Attributes = Kinds["logger"];

/** Effective is the level in an environment as the server resolved it, and where it comes from. */
export interface Effective {
  level: Level;
  origin: "environment" | "base" | "group" | "ancestor" | "default" | "reported";
  of: string | null;
  expiresAt?: string;
}

/**
 * effectiveIn returns the level of a logger in an environment. For a discovered logger it is the level that
 * services report, or undefined without reports.
 */
export function effectiveIn(attributes: Attributes, environment: string): Effective | undefined {
  if (!attributes.managed) {
    const level = attributes.effective_levels[environment]?.[0];
    return level && { level, origin: "reported", of: null };
  }
  const resolved = attributes.resolved?.[environment];
  if (!resolved) return elsewhere(attributes, environment);
  const expiresAt = {
    environment: attributes.environments[environment]?.expires_at,
    base: attributes.level_expires_at ?? undefined,
    group: undefined,
    ancestor: undefined,
    default: undefined,
  }[resolved.origin];
  return { ...resolved, expiresAt };
}

// elsewhere returns the level in an environment for which the list has no resolution, such as a frozen environment
// without a level of its own: the level for all environments, or the level that services report.
function elsewhere({ level, effective_levels }: Attributes, environment: string): Effective | undefined {
  if (level) return { level, origin: "base", of: null };
  const reported = effective_levels[environment]?.[0];
  return reported && { level: reported, origin: "reported", of: null };
}

/** originOf returns the origin of a level in a word. */
export function originOf({ origin, of }: Effective): string {
  const words = { environment: "own", base: "own", default: "default", reported: "reported" };
  if (origin === "group") return `group ${of}`;
  if (origin === "ancestor") return `↑ ${of}`;
  return words[origin];
}

/** originSentence returns the origin of a level as a sentence. */
export function originSentence({ origin, of }: Effective, environment: string): string {
  switch (origin) {
    case "environment":
      return `Set on this logger for ${environment}.`;
    case "base":
      return "Set on this logger for all environments.";
    case "group":
      return `Comes from the group ${of}.`;
    case "ancestor":
      return `Inherited from ${of}.`;
    case "default":
      return "No level is set here or above: the default applies.";
    case "reported":
      return "This is the level that services report.";
  }
}

/** Confirmation counts the services that report from an environment, and those that use its level. */
export interface Confirmation {
  applied: number;
  total: number;
  /** others are the services that use another level. */
  others: { service: string; level: Level; lastSeen: string | null }[];
}

/** confirmationIn compares what services report with the level that they should use. */
export function confirmationIn(attributes: Attributes, environment: string): Confirmation | undefined {
  const level = attributes.managed ? attributes.resolved?.[environment]?.level : undefined;
  const sources = attributes.sources.filter((source) => source.environment === environment);
  if (!level || sources.length === 0) return undefined;
  const others = sources.filter((source) => source.resolved_level !== level);
  return {
    applied: sources.length - others.length,
    total: sources.length,
    others: others.map(({ service, resolved_level, last_seen }) => ({ service, level: resolved_level, lastSeen: last_seen })),
  };
}

/** Setting is a chosen level; seconds is set for a temporary level. */
export interface Setting {
  level: Level | null;
  seconds?: number;
}

/** base stands for the level of all environments. */
export const base = "*";

type Writable = Pick<Attributes, "level" | "level_expires_at" | "environments">;

/** withLevel returns the attributes to write, with one environment's level, or the base level, set or removed. */
export function withLevel(
  current: (Writable & { name?: string; group?: string | null }) | undefined,
  environment: string,
  { level, seconds }: Setting,
) {
  const { name, group, level: baseLevel = null, level_expires_at = null, environments = {} } = current ?? {};
  const rest = { name, group };
  if (environment === base) {
    const expiry = level !== null && seconds ? { level_ttl_seconds: seconds } : { level_expires_at: null };
    return { ...rest, level, ...expiry, environments };
  }
  const { [environment]: _, ...others } = environments;
  const entry = level === null ? {} : { [environment]: { level, ...(seconds ? { ttl_seconds: seconds } : { expires_at: null }) } };
  return { ...rest, level: baseLevel, level_expires_at, environments: { ...others, ...entry } };
}

/** Step is one place where a level may be set, in the order in which the server looks. */
export interface Step {
  title: string;
  level: Level | null;
  decided: boolean;
  of?: string;
}

/** stepsOf returns the five steps of a resolution. The levels of the steps after the deciding one are unknown. */
export function stepsOf(logger: Logger, environment: string): Step[] {
  const { attributes } = logger;
  const resolved = attributes.resolved?.[environment];
  const fromGroup = resolved?.origin === "group" ? resolved : undefined;
  const fromAncestor = resolved?.origin === "ancestor" ? resolved : undefined;
  return [
    {
      title: `This logger in ${environment}`,
      level: attributes.environments[environment]?.level ?? null,
      decided: resolved?.origin === "environment",
    },
    { title: "This logger in all environments", level: attributes.level, decided: resolved?.origin === "base" },
    {
      title: attributes.group ? `Its group ${attributes.group}` : "Its group (it has none)",
      level: fromGroup?.level ?? null,
      decided: fromGroup !== undefined,
    },
    {
      title: "The nearest ancestor with a level",
      level: fromAncestor?.level ?? null,
      decided: fromAncestor !== undefined,
      of: fromAncestor?.of ?? undefined,
    },
    { title: "The default", level: "INFO", decided: resolved?.origin === "default" },
  ];
}

const units: [string, number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];
const longest = 30 * 86_400;

/** secondsOf reads a time as people type it, up to 30 days: "45 min", "45", "1h30m", "2 h 30 min", "1 d"; undefined if it is unclear. */
export function secondsOf(text: string): number | undefined {
  const found = /^(?:(\d{1,2})\s*d)?\s*(?:(\d{1,3})\s*h)?\s*(?:(\d{1,5})\s*(?:m|min)?)?$/i.exec(text.trim());
  const [days, hours, minutes] = (found?.slice(1) ?? []).map((part) => Number(part ?? 0));
  const seconds = ((days ?? 0) * 24 + (hours ?? 0)) * 3600 + (minutes ?? 0) * 60;
  return seconds > 0 && seconds <= longest ? seconds : undefined;
}

/** lengthOf returns a time for people: "15 min", "2 h 30 min". */
export function lengthOf(seconds: number): string {
  let rest = seconds;
  const words = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count > 0 ? [`${count} ${unit}`] : [];
  });
  return words.join(" ");
}
