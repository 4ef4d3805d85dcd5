import type { Stored } from "../api/usage";

const words: [keyof Stored, string, string][] = [
  ["flag_rules", "flag rule", "flag rules"],
  ["flag_env_defaults", "flag default", "flag defaults"],
  ["config_overrides", "config value", "config values"],
  ["logger_overrides", "log level", "log levels"],
];

/** stored returns how many values an environment has. */
export const stored = (usage: Stored): number => words.reduce((sum, [name]) => sum + usage[name], 0);

/** inWords lists the stored values of an environment by kind. */
export function inWords(usage: Stored): string {
  const parts = words.filter(([name]) => usage[name] > 0).map(([name, one, many]) => `${usage[name]} ${usage[name] === 1 ? one : many}`);
  if (parts.length === 0) return "nothing";
  return parts.length === 1 ? (parts[0] as string) : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
