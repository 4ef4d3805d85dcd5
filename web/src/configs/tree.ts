import type { Level } from "./values";

/** Branch is a config in the list, below its parent. */
export interface Branch extends Level {
  depth: number;
}

/** branches sorts configs so that each comes after its parent. A config whose parent is not in the list is at the top level. */
export function branches(configs: Level[]): Branch[] {
  const known = new Set(configs.map(({ id }) => id));
  const below = new Map<string, Level[]>();
  for (const level of configs) {
    const { parent } = level.config;
    const above = parent !== null && known.has(parent) ? parent : "";
    const siblings = below.get(above) ?? [];
    siblings.push(level);
    below.set(above, siblings);
  }
  const walk = (parent: string, depth: number): Branch[] =>
    (below.get(parent) ?? []).flatMap((level) => [{ ...level, depth }, ...walk(level.id, depth + 1)]);
  return walk("", 0);
}
