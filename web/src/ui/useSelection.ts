import { useCallback, useState } from "react";

/** Selection is the rows of a list that somebody selected, by their keys. */
export interface Selection {
  selected: ReadonlySet<string>;
  /** select adds rows to the selection, or removes them. */
  select: (keys: string[], isSelected: boolean) => void;
  clear: () => void;
}

/** useSelection holds a selection until the screen is left. */
export function useSelection(): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback(
    (keys: string[], isSelected: boolean) =>
      setSelected((old) => new Set(isSelected ? [...old, ...keys] : [...old].filter((key) => !keys.includes(key)))),
    [],
  );
  const clear = useCallback(() => setSelected(new Set()), []);
  return { selected, select, clear };
}
