import { Suspense, useState } from "react";
import type { Column } from "./Grid";
import { IconColumns } from "./icons";
import { later } from "./later";

const ChooseColumns = later(() => import("./ChooseColumns"));

/** Columns opens the choice of a list's columns. */
// biome-ignore lint/suspicious/noExplicitAny: the choice of columns does not depend on the type of the rows
export function Columns({ of }: { of: Column<any>[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="tool" onClick={() => setOpen(true)}>
        <IconColumns size={14} aria-hidden="true" /> Columns
      </button>
      <Suspense>{isOpen && <ChooseColumns of={of} close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
