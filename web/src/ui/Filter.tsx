import { useSearch } from "@tanstack/react-router";
import { useSetSearch } from "../app/focus";

interface Props {
  /** name is the parameter in the address. */
  name: string;
  label: string;
  /** any is the choice that filters nothing. */
  any: string;
  choices: readonly (string | { value: string; label: string })[];
  /** clears are parameters in the address that a new choice removes. */
  clears?: string[];
}

/** Filter narrows a list by one choice, which is kept in the address. */
export function Filter({ name, label, any, choices, clears = [] }: Props) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const setSearch = useSetSearch();
  return (
    <select
      className="choice"
      aria-label={label}
      value={search[name] ?? ""}
      onChange={(event) =>
        setSearch({ ...Object.fromEntries(clears.map((each) => [each, undefined])), [name]: event.currentTarget.value || undefined })
      }
    >
      <option value="">{any}</option>
      {choices.map((choice) => {
        const { value, label } = typeof choice === "string" ? { value: choice, label: choice } : choice;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

/** ManagedFilter narrows a list to managed or to discovered resources. */
export function ManagedFilter({ all }: { all: string }) {
  const choices = [
    { value: "true", label: "Managed" },
    { value: "false", label: "Discovered" },
  ];
  return <Filter name="managed" label="Managed" any={all} choices={choices} />;
}
