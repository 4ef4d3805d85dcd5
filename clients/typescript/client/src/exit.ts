// Closes the boxes when Node.js has nothing left to do. All boxes share one listener, because Node.js warns when there are
// many.

import type { Stop } from "./listeners.js";

const open = new Set<() => void>();

function closeAll(): void {
  for (const close of [...open]) {
    close();
  }
}

/** Calls a function before the process ends by itself, unless the returned function was called before. */
export function beforeExit(close: () => void): Stop {
  if (open.size === 0) {
    process.on("beforeExit", closeAll);
  }
  open.add(close);
  return () => {
    open.delete(close);
    if (open.size === 0) {
      process.off("beforeExit", closeAll);
    }
  };
}
