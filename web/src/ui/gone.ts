import { createContext, useContext } from "react";
import type { Kind } from "../api/kinds";

/** Gone is a resource that was deleted while its page was open. */
export interface Gone {
  kind: Kind;
  id: string;
}

/** GoneContext holds the resource of the page if it was deleted. */
export const GoneContext = createContext<Gone | undefined>(undefined);

/** useGone returns the resource of the page if it was deleted. */
export const useGone = () => useContext(GoneContext);
