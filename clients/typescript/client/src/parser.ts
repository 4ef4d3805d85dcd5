// Checks the server's values before the code gets them.

import { isObject } from "./values.js";

/** A schema of zod, valibot, ArkType and others, as https://standardschema.dev describes it. */
export interface StandardSchema<T> {
  readonly "~standard": {
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** Returns a value of the server as the code uses it, or throws an error. */
export type Parser<T> = ((value: unknown) => T) | StandardSchema<T>;

/** Returns the value after parsing. It throws an error if the value does not fit. */
export function parsed<T>(parser: Parser<T>, value: unknown): T {
  if (typeof parser === "function" && !("~standard" in parser)) {
    return parser(value);
  }
  const result = (parser as StandardSchema<T>)["~standard"].validate(value) as Validated<T>;
  if (result instanceof Promise) {
    throw new TypeError("the schema validates asynchronously, which is not supported");
  }
  if (result.issues) {
    throw new TypeError(result.issues.map(issueText).join("; "));
  }
  return result.value as T;
}

interface Validated<T> {
  value?: T;
  issues?: readonly { message: string; path?: readonly unknown[] }[];
}

function issueText({ message, path }: { message: string; path?: readonly unknown[] }): string {
  const steps = (path ?? []).map((step) => String(isObject(step) ? step.key : step));
  return steps.length > 0 ? `${steps.join(".")}: ${message}` : message;
}

/** Checks that values have the types of the defaults. null fits every default, and members without a default are kept. */
export function checkTypes(defaults: Readonly<Record<string, unknown>>, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    const fallback = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (fallback != null && value != null && typeName(fallback) !== typeName(value)) {
      throw new TypeError(`${name} must be ${typeName(fallback)}, not ${JSON.stringify(value)}`);
    }
  }
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) {
    return "a list";
  }
  return { string: "text", number: "a number", boolean: "true or false", object: "an object" }[typeof value as string] ?? typeof value;
}
