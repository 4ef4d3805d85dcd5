// Checks the server's values before the code gets them.

import { define, isObject, type Members } from "./values.js";

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

/** Returns the defaults with values over them. Objects in both are merged; everything else is replaced as a whole. */
export function merged(defaults: Readonly<Members>, values: Readonly<Members>): Members {
  const result = { ...defaults };
  for (const [name, value] of Object.entries(values)) {
    const fallback = memberOf(defaults, name);
    define(result, name, isPlain(fallback) && isPlain(value) ? merged(fallback, value) : value);
  }
  return result;
}

/** Checks that values have the types of the defaults, also in objects and lists. null fits every default, every value fits the
 * default null, and members without a default are kept. path is where the values are, such as "retry.". */
export function checkTypes(defaults: Readonly<Members>, values: Readonly<Members>, path = ""): void {
  for (const [name, value] of Object.entries(values)) {
    checkType(memberOf(defaults, name), value, path + name);
  }
}

function checkType(fallback: unknown, value: unknown, path: string): void {
  if (fallback == null || value == null) {
    return;
  }
  expectType(typeName(fallback), value, path);
  if (Array.isArray(fallback)) {
    checkElements(fallback, value as unknown[], path);
  } else if (isPlain(fallback)) {
    checkTypes(fallback, value as Members, `${path}.`);
  }
}

/** Checks the elements of a list, if those of the default have one type. */
function checkElements(defaults: readonly unknown[], values: readonly unknown[], path: string): void {
  const [type, ...others] = new Set(defaults.map(typeName));
  if (type === undefined || type === NULL || others.length > 0) {
    return;
  }
  values.forEach((value, i) => {
    if (value != null) {
      expectType(type, value, `${path}[${i}]`);
    }
  });
}

function expectType(type: string, value: unknown, path: string): void {
  if (typeName(value) !== type) {
    throw new TypeError(`${path} must be ${type}, not ${JSON.stringify(value)}`);
  }
}

function memberOf(object: Readonly<Members>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Reports whether a value is an object as JSON has it, and not a Date, a Map or another class. */
function isPlain(value: unknown): value is Members {
  return isObject(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);
}

const NULL = "null";

function typeName(value: unknown): string {
  if (value == null) {
    return NULL;
  }
  if (Array.isArray(value)) {
    return "a list";
  }
  return { string: "text", number: "a number", boolean: "true or false", object: "an object" }[typeof value as string] ?? typeof value;
}
