// Contexts of OpenFeature as contexts of Signalbox.

import { isObject, type Members } from "./values.js";

/** Returns the contexts of an evaluation. The targeting key is the key of the user. An object is a context whose type is the
 * member's name, and other members are attributes of the user. Members of "user" win over both. */
export function contextsOf(evaluated: Readonly<Record<string, unknown>>): Record<string, object> {
  const { targetingKey, user: given, ...rest } = evaluated;
  const user: Members = typeof targetingKey === "string" && targetingKey ? { key: targetingKey } : {};
  const contexts: Record<string, object> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (isObject(value) && !(value instanceof Date)) {
      contexts[name] = value;
    } else if (value !== undefined) {
      user[name] = value;
    }
  }
  Object.assign(user, isObject(given) ? given : {});
  return Object.keys(user).length > 0 ? { ...contexts, user } : contexts;
}
