import type { ReactNode } from "react";

/** RowButton opens a row from its first cell, or from its card. */
export function RowButton({ onClick, isCard, children }: { onClick: () => void; isCard?: boolean; children: ReactNode }) {
  return (
    <button type="button" className={isCard ? "plain card-button" : "plain ellipsis"} tabIndex={-1} onClick={onClick}>
      {children}
    </button>
  );
}
