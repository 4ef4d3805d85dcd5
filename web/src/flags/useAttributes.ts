import { useList } from "../api/queries";

/** useAttributes returns the known attributes of contexts, as rules name them. */
export function useAttributes(): string[] {
  const { data } = useList("context_type", { "page[size]": 1000 });
  const known = (data?.data ?? []).flatMap(({ id, attributes }) =>
    ["key", ...Object.keys(attributes.attributes)].map((name) => `${id}.${name}`),
  );
  return [...new Set(["user.key", "service.key", ...known])].sort();
}
