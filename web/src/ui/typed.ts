import { Exact, numberOf, parse, stringify } from "../api/json";

/** ValueType is the type of a value that people edit as text. */
export type ValueType = "STRING" | "NUMBER" | "NUMERIC" | "BOOLEAN" | "JSON";

/** textOf returns a value as its editor shows it. */
export function textOf(value: unknown, type: ValueType): string {
  if (value === undefined) return type === "BOOLEAN" ? "false" : type === "JSON" ? "{}" : "";
  if (type === "STRING") return typeof value === "string" ? value : stringify(value);
  return type === "JSON" ? stringify(value, 2) : String(value);
}

/** Read is the value of a text, or the problem with it: "must be a number such as 1500 or 0.5". */
export type Read = { value: unknown; problem?: undefined } | { problem: string };

/** readAs returns the value of an editor's text, or the problem with it. */
export function readAs(text: string, type: ValueType): Read {
  if (type === "STRING") return { value: text };
  if (type === "BOOLEAN") return { value: text === "true" };
  if (type === "JSON") return readJson(text);
  return readNumber(text.trim());
}

function readNumber(text: string): Read {
  if (/^[-+]?0[\dxob]/i.test(text)) return { problem: "must be a decimal number such as 16 or 0.5, without zeros in front" };
  const number = numberOf(text);
  if (number === undefined || !Number.isFinite(Number(text))) return { problem: "must be a number such as 1500 or 0.5" };
  if (Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER && /^[-+]?\d+$/.test(text))
    return { problem: "must be at most 9007199254740991, because larger integers lose digits" };
  if (number instanceof Exact) return { problem: "must be a number of at most 15 digits, because more are lost" };
  return { value: number };
}

function readJson(text: string): Read {
  if (text.trim() === "") return { problem: 'must be JSON such as {"limit": 2}' };
  try {
    return { value: parse(text) };
  } catch (failure) {
    return { problem: `must be JSON: ${failure instanceof Error ? failure.message : "it cannot be read"}` };
  }
}

/** valueFrom returns the value of a text, or throws the problem as a sentence about the named member. */
export function valueFrom(name: string, text: string, type: ValueType): unknown {
  const read = readAs(text, type);
  if (read.problem !== undefined) throw new Error(`${name} ${read.problem}.`);
  return read.value;
}
