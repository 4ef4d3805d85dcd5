// Semantic versions as flagd compares them: a leading v is allowed, and 1 and 1.2 mean 1.0.0 and 1.2.0.

/** A parsed version. A release has no prerelease. */
export interface Version {
  /** Major, minor and patch. They may be larger than a number can be exactly. */
  readonly numbers: readonly [string, string, string];
  readonly prerelease: string;
}

const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^[vV]?(0|[1-9][0-9]*)(?:\\.(0|[1-9][0-9]*)(?:\\.(0|[1-9][0-9]*))?)?(?:-(${IDENTIFIERS}))?(\\+${IDENTIFIERS})?$`,
);
const LEADING_ZERO = /(?:^|\.)0[0-9]+(?:\.|$)/;
const MAX_LENGTH = 4000;

/** Parses a version of Semantic Versioning 2.0; undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  const found = text.length <= MAX_LENGTH ? VERSION.exec(text) : null;
  if (!found || text.endsWith("\n")) {
    return undefined;
  }
  const [, major = "0", minor, patch, prerelease = "", build] = found;
  if (((prerelease || build) && patch === undefined) || LEADING_ZERO.test(prerelease)) {
    return undefined;
  }
  return { numbers: [major, minor ?? "0", patch ?? "0"], prerelease };
}

/** Compares two versions by an operator; null for an unknown one. */
export function compareVersions(a: Version, b: Version, operator: string): boolean | null {
  switch (operator) {
    case "^":
      return a.numbers[0] === b.numbers[0];
    case "~":
      return a.numbers[0] === b.numbers[0] && a.numbers[1] === b.numbers[1];
    case "=":
      return order(a, b) === 0;
    case "!=":
      return order(a, b) !== 0;
    case "<":
      return order(a, b) < 0;
    case "<=":
      return order(a, b) <= 0;
    case ">":
      return order(a, b) > 0;
    case ">=":
      return order(a, b) >= 0;
    default:
      return null;
  }
}

function order(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const found = orderNumbers(a.numbers[i] as string, b.numbers[i] as string);
    if (found !== 0) {
      return found;
    }
  }
  return orderPrereleases(a.prerelease, b.prerelease);
}

/** Orders digits without leading zeros by their value. */
function orderNumbers(a: string, b: string): number {
  return a.length - b.length || Number(a > b) - Number(a < b);
}

/** A release comes after its prereleases, numbers come before words, and fewer parts before more. */
function orderPrereleases(a: string, b: string): number {
  if (!a || !b) {
    return Number(!a) - Number(!b);
  }
  const first = a.split(".");
  const second = b.split(".");
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const found = orderIdentifiers(first[i] as string, second[i] as string);
    if (found !== 0) {
      return found;
    }
  }
  return first.length - second.length;
}

const DIGITS = /^[0-9]+$/;

function orderIdentifiers(a: string, b: string): number {
  const numeric = DIGITS.test(a);
  if (numeric !== DIGITS.test(b)) {
    return numeric ? -1 : 1;
  }
  return numeric ? orderNumbers(a, b) : Number(a > b) - Number(a < b);
}
