import { Button } from "@mantine/core";
import { useState } from "react";
import type { Kind, Level } from "../api/kinds";
import type { Environment } from "../api/session";
import type { Plan } from "../ui/BulkDialog";
import { levels } from "../ui/LevelPill";
import { RoleGate } from "../ui/RoleGate";
import type { Write } from "../ui/requests";
import { SelectionBar } from "../ui/SelectionBar";
import type { Selection } from "../ui/useSelection";
import { secondsOf, withLevel } from "./levels";

interface Props {
  selection: Selection;
  all: string[];
  environments: Environment[];
}

const lengths = ["15 min", "30 min", "1 h", "8 h"];

/** LoggerActions sets or resets the level of the selected loggers in an environment. */
export default function LoggerActions({ selection, all, environments }: Props) {
  const managed = environments.filter((environment) => environment.managed);
  const [chosen, setChosen] = useState<string>();
  const [level, setLevel] = useState<Level>("DEBUG");
  const [length, setLength] = useState(lengths[0] as string);
  const environment = managed.find(({ id }) => id === chosen) ?? managed.at(-1);
  if (!environment) return null;
  const ids = [...selection.selected].sort().reverse(); // descendants first: managing a logger drops the levels reported below it
  return (
    <SelectionBar selection={selection} all={all}>
      {(start, isTooMany) => (
        <>
          <Choice label="Level" value={level} choices={levels} onChange={(value) => setLevel(value as Level)} />
          <Choice
            label="Environment of the level"
            value={environment.id}
            choices={managed.map(({ id, name }) => ({ value: id, label: `in ${name}` }))}
            onChange={setChosen}
          />
          <Choice
            label="For how long"
            value={length}
            choices={[...lengths.map((each) => ({ value: each, label: `for ${each}` })), { value: "", label: "until I change it" }]}
            onChange={setLength}
          />
          <RoleGate needs="MEMBER" environment={environment.id}>
            {(disabled) => (
              <>
                <Button size="compact-sm" disabled={disabled || isTooMany} onClick={() => start(setting(ids, environment, level, length))}>
                  Set level
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  disabled={disabled || isTooMany}
                  onClick={() => start(setting(ids, environment, null, ""))}
                >
                  Reset
                </Button>
              </>
            )}
          </RoleGate>
        </>
      )}
    </SelectionBar>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: (string | { value: string; label: string })[];
  onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <select className="choice" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {choices.map((choice) => (
        <option key={typeof choice === "string" ? choice : choice.value} value={typeof choice === "string" ? choice : choice.value}>
          {typeof choice === "string" ? choice : choice.label}
        </option>
      ))}
    </select>
  );
}

const counted = (count: number) => (count === 1 ? "1 logger" : `${count} loggers`);

function setting(ids: string[], { id: environment, name }: Environment, level: Level | null, length: string): Plan {
  const seconds = secondsOf(length);
  const forHowLong = seconds ? ` for ${length}` : "";
  return {
    title: level ? `Set ${counted(ids.length)} to ${level} in ${name}${forHowLong}` : `Reset ${counted(ids.length)} in ${name}`,
    done: (count) =>
      level
        ? `${counted(count)} ${count === 1 ? "is" : "are"} ${level} in ${name}${forHowLong}.`
        : `${counted(count)} ${count === 1 ? "inherits its level" : "inherit their levels"} again in ${name}.`,
    verb: level ? `Set ${level} for` : "Reset",
    writes: ids.map((id) => ({
      kind: "logger",
      id,
      title: "", // the plan has the texts
      done: "",
      change: ((current) => withLevel(current, environment, { level, seconds })) as Write<"logger">["change"] as Write<Kind>["change"],
    })),
  };
}
