/** moved returns a list with one member moved to another index. */
export function moved(ids: string[], id: string, to: number): string[] {
  const rest = ids.filter((each) => each !== id);
  const place = Math.max(0, Math.min(rest.length, to));
  return [...rest.slice(0, place), id, ...rest.slice(place)];
}
