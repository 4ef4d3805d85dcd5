/** Limit is a limit of a plan and its use. */
export interface Limit {
  name: string;
  product: "jobs" | "flags" | "logging" | "config" | "platform";
  used: number;
  /** maximum is -1 for no limit, and undefined if the server sends none. */
  maximum?: number;
}

/** filled returns how much of a limit is used in percent, or undefined without a limit. */
export function filled({ used, maximum }: Limit): number | undefined {
  if (maximum === undefined || maximum < 0) return undefined;
  return maximum === 0 ? 100 : Math.min(100, Math.round((100 * used) / maximum));
}

/** toneOf returns the tone of a bar: a warning above 80 %. */
export function toneOf(percent: number): "plain" | "warning" | "bad" {
  if (percent >= 100) return "bad";
  return percent > 80 ? "warning" : "plain";
}

/** sentenceFor returns the use of a limit in words. */
export function sentenceFor({ used, maximum }: Limit): string {
  const count = used.toLocaleString("en");
  if (maximum === undefined) return count;
  return maximum < 0 ? `${count}, without a limit` : `${count} of ${maximum.toLocaleString("en")}`;
}

/** historySentence returns the size of the history, its limit, and what happens at the limit. */
export function historySentence(usage: { history_bytes: number; history_bytes_limit: number }): string {
  const [used, maximum] = [usage.history_bytes, usage.history_bytes_limit].map((bytes) => Math.ceil(bytes / 2 ** 20).toLocaleString("en"));
  if (usage.history_bytes_limit < 0) return `The history takes ${used} MiB.`;
  return `The history takes ${used} of ${maximum} MiB; when it is full, the oldest changes lose their documents.`;
}
