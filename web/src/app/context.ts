import { createContext, useContext } from "react";
import type { Live } from "../api/live";

/** Shared holds the objects that live as long as the page. */
export interface Shared {
  live: Live;
}

export const AppContext = createContext<Shared | null>(null);

export function useApp(): Shared {
  const shared = useContext(AppContext);
  if (!shared) throw new Error("useApp outside of App");
  return shared;
}
