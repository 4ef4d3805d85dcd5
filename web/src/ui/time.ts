const units: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

const two = (value: number) => String(value).padStart(2, "0");

/** instant returns a time in UTC and in the reader's time zone. */
export function instant(at: string): { utc: string; local: string } {
  const date = new Date(at);
  const utc = `${date.toISOString().slice(0, 10)} ${date.toISOString().slice(11, date.getUTCSeconds() === 0 ? 16 : 19)} UTC`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return { utc, local: `${day} ${two(date.getHours())}:${two(date.getMinutes())}` };
}

/** duration returns a length of time in its largest unit. */
export function duration(ms: number): string {
  const length = Math.abs(ms);
  const [size, unit] = units.find(([size]) => length >= size) ?? [1000, "s"];
  return `${Math.floor(length / size)} ${unit}`;
}

/** relative returns a time relative to now: "4 s ago", "in 2 h". The page's clock is up to 2 s slow, so that what happened now may seem to come. */
export function relative(ms: number): string {
  if (ms > -1000 && ms < 2000) return "now";
  return ms < 0 ? `${duration(ms)} ago` : `in ${duration(ms)}`;
}

/** clock returns the remaining time like a timer: 14:32, or 2 h 05 min from an hour on. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 48 * 60) return `${Math.floor(minutes / 1440)} d`;
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${minutes}:${two(seconds % 60)}`;
}

/** milliseconds returns a duration as people read it: 12 ms, 1.4 s, 2 min 05 s. */
export function milliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms * 10) / 10 >= 10 ? Math.round(ms) : Math.round(ms * 10) / 10} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** localField returns the value of a datetime-local field, which has the reader's time zone. */
export function localField(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** timeOf returns the time of a datetime-local field in UTC, or null if the field has none. */
export function timeOf(field: string): string | null {
  const at = new Date(field);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
