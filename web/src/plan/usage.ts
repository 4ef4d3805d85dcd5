/** Limit is what a plan counts. */
export interface Limit {
  name: string;
  product: "jobs" | "flags" | "logging" | "config" | "platform";
  used: number;
  /** maximum is -1 for no limit, and undefined where the server tells none. */
  maximum?: number;
}

/** filled returns how much of a limit is used in per cent, or undefined where there is no bar to fill. */
export function filled({ used, maximum }: Limit): number | undefined {
  if (maximum === undefined || maximum < 0) return undefined;
  return maximum === 0 ? 100 : Math.min(100, Math.round((100 * used) / maximum));
}

/** toneOf returns how a bar looks: above 80 % it is time to act. */
export function toneOf(percent: number): "plain" | "warning" | "bad" {
  if (percent >= 100) return "bad";
  return percent > 80 ? "warning" : "plain";
}

/** sentenceFor says how much of a limit is used. */
export function sentenceFor({ used, maximum }: Limit): string {
  const count = used.toLocaleString("en");
  if (maximum === undefined) return count;
  return maximum < 0 ? `${count}, without a limit` : `${count} of ${maximum.toLocaleString("en")}`;
}

/** historySentence says how much room the history takes, and what happens when that is all. */
export function historySentence(usage: { history_bytes: number; history_bytes_limit: number }): string {
  const [used, maximum] = [usage.history_bytes, usage.history_bytes_limit].map((bytes) => Math.ceil(bytes / 2 ** 20).toLocaleString("en"));
  if (usage.history_bytes_limit < 0) return `The history takes ${used} MiB.`;
  return `The history takes ${used} of ${maximum} MiB; when it is full, its oldest changes lose their documents.`;
}
