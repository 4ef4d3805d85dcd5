import { useWriter } from "../ui/WriteProvider";
import { base, withLevel } from "./levels";

/** useAssign returns a function that puts a logger into a group; null removes it from its group. */
export function useAssign() {
  const writer = useWriter();
  return (id: string, group: string | null) =>
    void writer.attempt({
      kind: "logger",
      id,
      title: group ? `Put ${id} into the group ${group}` : `Take ${id} out of its group`,
      done: group ? `${id} is in ${group}.` : `${id} is in no group.`,
      environments: ["production"],
      change: (current) => ({
        ...withLevel(current, base, { level: current?.managed ? current.level : null }),
        level_expires_at: current?.level_expires_at,
        group,
      }),
    });
}
