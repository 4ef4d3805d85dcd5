import type { components } from "../api/schema";
import { short } from "../ui/diff";
import styles from "./Why.module.css";

type Node = components["schemas"]["ExplainedNode"];

type Explained = components["schemas"]["Explanation"]["rules"][number];

/** Tree shows an expression as the server evaluated it: the result of each node, and which nodes were not needed. */
export function Tree({ rule, logic }: { rule: Explained; logic: unknown }) {
  if (rule.problem) return <p role="alert">{rule.problem}</p>;
  if (!rule.logic)
    return <p className="muted">{rule.evaluated ? "Too large to show." : "Not evaluated: the flag is off, or an earlier rule matched."}</p>;
  return (
    <ul className={styles.tree}>
      <Branch node={rule.logic} logic={logic} />
    </ul>
  );
}

function Branch({ node, logic }: { node: Node; logic: unknown }) {
  const below = [...(node.arguments ?? []), ...(node.iterations ?? [])];
  const inner = at(logic, node.pointer);
  return (
    <li>
      <code>{node.operator ?? short(inner === undefined ? node.result : inner, 60)}</code>{" "}
      {node.evaluated ? (
        <span data-truthy={Boolean(node.result)} className={styles.result}>
          {short(node.result, 60)}
        </span>
      ) : (
        <span className="muted">not needed</span>
      )}
      {node.operator === "var" && <span className="muted"> {short((inner as { var?: unknown } | undefined)?.var ?? inner, 40)}</span>}
      {node.error && <span role="alert"> {node.error}</span>}
      {below.length > 0 && node.operator !== "var" && (
        <ul>
          {below.map((child) => (
            <Branch key={child.pointer} node={child} logic={logic} />
          ))}
        </ul>
      )}
    </li>
  );
}

function at(logic: unknown, pointer: string): unknown {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], logic);
}
