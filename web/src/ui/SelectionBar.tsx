import { Button, CloseButton } from "@mantine/core";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import type { Plan } from "./BulkDialog";
import { most } from "./bulk";
import { later } from "./later";
import styles from "./SelectionBar.module.css";
import type { Selection } from "./useSelection";

const BulkDialog = later(() => import("./BulkDialog"));

interface Props {
  selection: Selection;
  /** all are the keys of the whole list, if they are known. */
  all: string[];
  /** children are the actions; each starts a plan. */
  children: (start: (plan: Plan) => void, isTooMany: boolean) => ReactNode;
}

/** SelectionBar has the actions on the selected rows of a list. It is shown while there are any. */
export function SelectionBar({ selection: { selected, select, clear }, all, children }: Props) {
  const [plan, setPlan] = useState<Plan>();
  const isTooMany = selected.size > most;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("[role=dialog]")) clear();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [clear]);
  if (selected.size === 0) return null;
  const close = (isDone: boolean) => {
    setPlan(undefined);
    if (isDone) clear();
  };
  return (
    <section className={styles.bar} aria-label="Selected">
      <b className="tabular">{selected.size} selected</b>
      {all.length > selected.size && all.length <= most && (
        <Button size="compact-sm" variant="subtle" onClick={() => select(all, true)}>
          All {all.length}
        </Button>
      )}
      {isTooMany && <span className="muted">Select at most {most}</span>}
      <span className={styles.actions}>{children(setPlan, isTooMany)}</span>
      <CloseButton aria-label="Select nothing" size="sm" onClick={clear} />
      <Suspense>{plan && <BulkDialog plan={plan} close={close} />}</Suspense>
    </section>
  );
}
