/**
 * Clock is the time of the server. The clock of a browser may be wrong by hours, which would make jobs late and levels
 * expired; every answer has the server's time in its Date header.
 */
export class Clock {
  private ahead = 0;

  /** hear takes the Date header of an answer, which has whole seconds. */
  hear(date: string | null, now = Date.now()): void {
    const time = date === null ? Number.NaN : new Date(date).getTime();
    if (Number.isNaN(time)) return;
    const ahead = time + 500 - now;
    if (Math.abs(ahead - this.ahead) > 1500) this.ahead = Math.abs(ahead) > 1500 ? ahead : 0;
  }

  /** now returns the server's time in milliseconds. */
  now = (): number => Date.now() + this.ahead;
}

/** clock is the clock of the server that serves this page. */
export const clock = new Clock();
