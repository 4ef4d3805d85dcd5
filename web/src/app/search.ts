/** The address has the whole state of a screen: the environment in focus, filters, the selection. */
export type Search = Record<string, string | undefined>;

/** parse reads a query; every value is a text, so that links are short and readable. */
export function parse(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** stringify writes a query without empty values. */
export function stringify(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** pick returns a validateSearch that keeps the parameters with these names. */
export function pick<N extends string>(...names: N[]) {
  return (search: Record<string, unknown>): Partial<Record<N, string>> => {
    const known: Partial<Record<N, string>> = {};
    for (const name of names) {
      const value = search[name];
      if (value !== undefined && value !== "") known[name] = String(value);
    }
    return known;
  };
}
