/**
 * Exact is a JSON number that JavaScript's numbers would change, such as 9007199254740993. It keeps the digits of its
 * source, so that a value which somebody else wrote is shown and written back as it is.
 */
export class Exact {
  constructor(readonly source: string) {}

  toString(): string {
    return this.source;
  }

  toJSON(): unknown {
    return raw ? raw(this.source) : mark + this.source;
  }
}

// raw makes JSON.stringify write a number as it is. Browsers before 2025 lack it; there, stringify replaces marked texts.
const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;
const mark = `\u2063${Math.random()}:`;
const marked = new RegExp(`"${mark.replaceAll(".", "\\.")}([^"]*)"`, "g");

// tokens are the texts and numbers of a document, and longNumbers finds documents that may have a number to keep.
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const longNumbers = /(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+[eE])/;

/** parse is JSON.parse that keeps every digit: numbers that JavaScript would change are Exact. */
export function parse(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!longNumbers.test(text)) return plain;
  const kept = text.replace(tokens, (token) => (token.startsWith('"') || isExact(token) ? token : JSON.stringify(mark + token)));
  return JSON.parse(kept, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? new Exact(value.slice(mark.length)) : value,
  );
}

/** stringify is JSON.stringify that writes the digits of Exact numbers. */
export function stringify(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return raw ? text : text.replace(marked, "$1");
}

/** numberOf returns the number of a decimal text, or undefined: 0x10 and 007 are no numbers. */
export function numberOf(text: string): number | Exact | undefined {
  if (!/^[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text)) return undefined;
  if (isExact(text)) return Number(text);
  return /^-?\d+(\.\d+)?(e.+)?$/i.test(text) ? new Exact(text) : undefined; // only as JSON writes it
}

/** isExact reports whether JavaScript's number for a JSON number has the same value. */
export function isExact(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && plainly(text) === plainly(String(number));
}

// plainly writes a number as its digits and exponent, so that 1.50 and 15e-1 are the same.
function plainly(text: string): string {
  const [, sign, whole = "", fraction = "", exponent] = /^([-+]?)(\d*)\.?(\d*)(?:e(.+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign === "-" ? sign : ""}${significant}e${Number(exponent ?? 0) - fraction.length + digits.length - significant.length}`;
}
