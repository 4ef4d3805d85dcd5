import { useMemo } from "react";
import { useList } from "../api/queries";
import { type AttributeType, typeOf } from "./rules";

/** Attributes are the known attributes of contexts, as rules name them. */
export interface Attributes {
  names: string[];
  /** typeOf returns the type of an attribute, if services reported values of one type. */
  typeOf: (name: string) => AttributeType | undefined;
}

/** useAttributes returns the known attributes of contexts, with the types of the values that services reported last. */
export function useAttributes(): Attributes {
  const { data: types } = useList("context_type", { "page[size]": 1000 });
  const { data: contexts } = useList("context", { "page[size]": 200 });
  return useMemo(() => {
    const known = (types?.data ?? []).flatMap(({ id, attributes }) =>
      ["key", ...Object.keys(attributes.attributes)].map((name) => `${id}.${name}`),
    );
    const values = new Map<string, unknown[]>();
    for (const { attributes } of contexts?.data ?? [])
      for (const [name, value] of Object.entries(attributes.attributes)) {
        const full = `${attributes.context_type}.${name}`;
        values.set(full, [...(values.get(full) ?? []), value]);
      }
    return {
      names: [...new Set(["user.key", "service.key", ...known, ...values.keys()])].sort(),
      typeOf: (name) => typeOf(values.get(name) ?? []),
    };
  }, [types, contexts]);
}
