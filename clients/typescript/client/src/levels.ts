// Log levels: names of loggers, and the five steps that decide a logger's level. It means the same as the Go package
// client/loglevel.

import { isObject } from "./values.js";

/** The least severe level that is logged; SILENT logs nothing. */
export type Level = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR" | "FATAL" | "SILENT";

/** All levels, the least severe first. */
export const LEVELS: readonly Level[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "SILENT"];

const DEFAULT: Level = "INFO";

/** Parses the name of a level, ignoring case; undefined for anything else. */
export function parseLevel(text: unknown): Level | undefined {
  const name = typeof text === "string" ? text.toUpperCase() : undefined;
  return LEVELS.find((each) => each === name);
}

/** Returns a logger's name in lower case with its segments separated by dots. */
export function keyOf(name: string): string {
  const dotted = name.replace(/[/:]/g, ".");
  if (/^[\0-\x7f]*$/.test(dotted)) {
    return dotted.toLowerCase();
  }
  // Go lowers each character by itself; JavaScript knows a final sigma, and a dotted I that becomes two characters.
  return Array.from(dotted, (each) => Array.from(each.toLowerCase())[0]).join("");
}

/** Returns the key without its last segment; null for a single segment. */
export function parentOf(key: string): string | null {
  const dot = key.lastIndexOf(".");
  return dot < 0 ? null : key.slice(0, dot);
}

/** An effective level and where it comes from. */
export interface Resolution {
  level: Level;
  origin: "environment" | "base" | "group" | "ancestor" | "default";
  /** The key of the logger or group that has the level; empty for the default. */
  of: string;
}

/** What decides the level of a logger or a group. */
export interface Leveled {
  readonly level?: string | null | undefined;
  readonly level_expires_at?: string | null | undefined;
  readonly group?: string | null | undefined;
  readonly managed?: boolean | undefined;
  readonly environments?: Readonly<Record<string, unknown>> | null | undefined;
}

interface TreeNode {
  own: Resolution | undefined;
  managed: boolean;
}

/** Resolves the levels of loggers in one environment. */
export class Tree {
  private readonly nodes = new Map<string, TreeNode>();

  constructor(environment: string, loggers: ReadonlyMap<string, Leveled>, groups: ReadonlyMap<string, Leveled>) {
    for (const [key, each] of loggers) {
      let own = ownLevel(key, each, environment);
      const group = own ? undefined : groups.get(each.group ?? "");
      if (group && each.group) {
        const found = ownLevel(each.group, group, environment);
        own = found && { level: found.level, origin: "group", of: each.group };
      }
      this.nodes.set(key, { own, managed: each.managed === true });
    }
  }

  /** Returns the effective level of a normalized name. The tree need not have the name. */
  resolve(key: string): Resolution {
    for (let each: string | null = key; each !== null; each = parentOf(each)) {
      const own = this.nodes.get(each)?.own;
      if (own) {
        return each === key ? own : { level: own.level, origin: "ancestor", of: each };
      }
    }
    return { level: DEFAULT, origin: "default", of: "" };
  }

  /** Reports whether clients apply the effective level of a name: the logger or an ancestor is managed. */
  controls(key: string): boolean {
    for (let each: string | null = key; each !== null; each = parentOf(each)) {
      if (this.nodes.get(each)?.managed) {
        return true;
      }
    }
    return false;
  }

  /** Returns the level that a logger gets; undefined for the level of the code. */
  applied(key: string): Level | undefined {
    return this.nodes.size > 0 && this.controls(key) ? this.resolve(key).level : undefined;
  }
}

/** Returns the level of a logger or group itself: its override for the environment, else its base level. */
function ownLevel(key: string, attributes: Leveled, environment: string): Resolution | undefined {
  const override = attributes.environments?.[environment];
  const here = parseLevel(isObject(override) ? override.level : override);
  if (here) {
    return { level: here, origin: "environment", of: key };
  }
  const base = parseLevel(attributes.level);
  return base && { level: base, origin: "base", of: key };
}
