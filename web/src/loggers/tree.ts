import type { Logger } from "./levels";

/** Row is a line of the tree: a logger, or a common prefix of other loggers. */
export interface Row {
  id: string;
  label: string;
  depth: number;
  logger?: Logger;
  /** below is the number of loggers under it; a leaf has 0. */
  below: number;
  open: boolean;
}

interface Node {
  id: string;
  label: string;
  logger?: Logger;
  below: number;
  children: Map<string, Node>;
}

/**
 * buildTree arranges loggers by the dots of their names. known has the loggers that a filter left out, so that a branch
 * above a found logger shows its own level.
 */
export function buildTree(loggers: Logger[], known: ReadonlyMap<string, Logger> = new Map()): Node {
  const top: Node = { id: "", label: "", below: 0, children: new Map() };
  for (const logger of loggers) {
    let node = top;
    const parts = logger.id.split(".");
    for (const [index, part] of parts.entries()) {
      node.below++;
      let child = node.children.get(part);
      if (!child) {
        const id = parts.slice(0, index + 1).join(".");
        child = { id, label: part, logger: known.get(id), below: 0, children: new Map() };
        node.children.set(part, child);
      }
      node = child;
    }
    node.logger = logger;
  }
  return top;
}

/** rowsOf returns the lines that are in view: the children of open branches. */
export function rowsOf(tree: Node, isOpen: (id: string, depth: number) => boolean): Row[] {
  const rows: Row[] = [];
  const visit = (node: Node, depth: number) => {
    const sorted = [...node.children.values()].sort((one, other) => (one.label < other.label ? -1 : 1));
    for (const child of sorted) {
      const open = child.children.size > 0 && isOpen(child.id, depth);
      rows.push({ id: child.id, label: child.label, depth, logger: child.logger, below: child.below, open });
      if (open) visit(child, depth + 1);
    }
  };
  visit(tree, 0);
  return rows;
}

/** flatRows returns the loggers as a list. */
export function flatRows(loggers: Logger[]): Row[] {
  return loggers.map((logger) => ({ id: logger.id, label: logger.id, depth: 0, logger, below: 0, open: false }));
}

/** Filter has the conditions for loggers in the list. */
export interface Filter {
  q?: string;
  managed?: string;
  group?: string;
  level?: string;
  only?: string;
  environments: string[];
}

/** matches reports whether a logger passes the filter. */
export function matches({ id, attributes }: Logger, { q, managed, group, level, only, environments }: Filter): boolean {
  const wanted = q?.trim().toLowerCase();
  if (wanted && !id.includes(wanted) && !attributes.name.toLowerCase().includes(wanted)) return false;
  if (managed && String(attributes.managed) !== managed) return false;
  if (group && attributes.group !== group) return false;
  if (level && !environments.some((environment) => attributes.resolved?.[environment]?.level === level)) return false;
  if (only === "overridden" && attributes.level === null && environments.every((environment) => !attributes.environments[environment]))
    return false;
  if (only === "expiring") {
    const expires = environments.some((environment) => attributes.environments[environment]?.expires_at) || attributes.level_expires_at;
    if (!expires) return false;
  }
  return true;
}
