import { Button } from "@mantine/core";
import { useState } from "react";
import type { Kind } from "../api/kinds";
import type { Environment } from "../api/session";
import type { Plan } from "../ui/BulkDialog";
import { RoleGate } from "../ui/RoleGate";
import type { Write } from "../ui/requests";
import { SelectionBar } from "../ui/SelectionBar";
import type { Selection } from "../ui/useSelection";
import { withDefinition, withSettings } from "./flags";

interface Props {
  selection: Selection;
  all: string[];
  environments: Environment[];
}

/** FlagActions are the actions on the selected flags: switch them on or off in an environment, manage or delete them. */
export default function FlagActions({ selection, all, environments }: Props) {
  const managed = environments.filter((environment) => environment.managed);
  const [chosen, setChosen] = useState<string>();
  const environment = managed.find(({ id }) => id === chosen) ?? managed.at(-1);
  const ids = [...selection.selected].sort();
  return (
    <SelectionBar selection={selection} all={all}>
      {(start, isTooMany) => (
        <>
          {environment && (
            <>
              <select
                className="choice"
                aria-label="Environment to switch in"
                value={environment.id}
                onChange={(event) => setChosen(event.currentTarget.value)}
              >
                {managed.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
              {[true, false].map((isOn) => (
                <RoleGate key={String(isOn)} needs="MEMBER" environment={environment.id}>
                  {(disabled) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      disabled={disabled || isTooMany}
                      onClick={() => start(switching(ids, environment, isOn))}
                    >
                      Switch {isOn ? "on" : "off"}
                    </Button>
                  )}
                </RoleGate>
              ))}
            </>
          )}
          <RoleGate needs="MEMBER">
            {(disabled) => (
              <>
                <Button size="compact-sm" variant="default" disabled={disabled || isTooMany} onClick={() => start(managing(ids))}>
                  Manage
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  color="red"
                  disabled={disabled || isTooMany}
                  onClick={() => start(deleting(ids))}
                >
                  Delete…
                </Button>
              </>
            )}
          </RoleGate>
        </>
      )}
    </SelectionBar>
  );
}

const counted = (count: number) => (count === 1 ? "1 flag" : `${count} flags`);

function switching(ids: string[], environment: Environment, isOn: boolean): Plan {
  const word = isOn ? "on" : "off";
  return {
    title: `Switch ${counted(ids.length)} ${word} in ${environment.name}`,
    done: (count) => `Switched ${counted(count)} ${word} in ${environment.name}.`,
    verb: `Switch ${word}`,
    writes: ids.map((id) =>
      flagWrite(id, (current) => withSettings(current, environment.id, (settings) => ({ ...settings, enabled: isOn }))),
    ),
  };
}

function managing(ids: string[]): Plan {
  return {
    title: `Manage ${counted(ids.length)}`,
    done: (count) => `${counted(count)} ${count === 1 ? "is" : "are"} managed: services use the values that are set here.`,
    verb: "Manage",
    writes: ids.map((id) => flagWrite(id, (current) => ({ ...withDefinition(current, {}), managed: true }))),
  };
}

function deleting(ids: string[]): Plan {
  return {
    title: `Delete ${counted(ids.length)}`,
    done: (count) => `Deleted ${counted(count)}.`,
    verb: "Delete",
    isDestructive: true,
    writes: ids.map((id) => ({ ...flagWrite(id, () => ({})), method: "DELETE" })),
  };
}

/**
 * flagWrite is the write of one of several flags. It has no texts, because the plan has texts for all writes together.
 */
function flagWrite(id: string, change: NonNullable<Write<"flag">["change"]>): Write<Kind> {
  return { kind: "flag", id, title: "", done: "", change: change as Write<Kind>["change"] };
}
