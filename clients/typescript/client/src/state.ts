// How current the values of a box are.

/** STARTING: the server has not answered yet. LIVE: the values are the server's current values. STALE: the server cannot be
 * reached, or cannot reach its database; the last known values are served. REFUSED: the server does not accept the key; the
 * last known values are served. */
export type Status = "STARTING" | "LIVE" | "STALE" | "REFUSED";

/** How current the values of a box are, and why. */
export class State {
  constructor(
    readonly status: Status,
    /** When the status began. For values of the cache or the bootstrap file it is when they were saved. */
    readonly since: Date,
    /** Why the status is STALE or REFUSED, or why a LIVE box polls. */
    readonly why?: Error | undefined,
    /** The box polls because no event socket can be opened. Changes then arrive up to 30 s late. */
    readonly polling = false,
    /** The number of the account's last change that the box knows. */
    readonly seq = 0,
  ) {}

  toString(): string {
    const text = `${this.status} since ${this.since.toISOString().slice(0, 19)}Z${this.polling ? ", polling" : ""}`;
    return this.why ? `${text}: ${this.why.message}` : text;
  }
}
