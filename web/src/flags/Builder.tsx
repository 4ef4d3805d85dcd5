import { Autocomplete, Button, Group, NativeSelect, Slider, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import styles from "./Rules.module.css";
import {
  type AttributeType,
  type Condition,
  comparisons,
  type Model,
  type Operator,
  operatorFor,
  operators,
  problemOf,
  textFor,
  typeOf,
  valueFor,
} from "./rules";
import type { Attributes } from "./useAttributes";

interface Props {
  model: Model;
  onChange: (model: Model) => void;
  attributes: Attributes;
  /** depth is 0 for the rule itself, and more for a group inside it. */
  depth?: number;
  /** seed is hashed with the user, so that percentages of different flags choose different users. */
  seed: string;
}

/** Builder edits the conditions of a rule, or of a group of conditions inside it. */
export function Builder({ model, onChange, attributes, seed, depth = 0 }: Props) {
  const set = (index: number, condition: Condition | undefined) =>
    onChange({ ...model, conditions: model.conditions.flatMap((each, at) => (at === index ? (condition ? [condition] : []) : [each])) });
  const add = (condition: Condition) => onChange({ ...model, conditions: [...model.conditions, condition] });
  return (
    <Stack gap="xs">
      {model.conditions.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label={depth > 0 ? "Match in the group" : "Match"}
          w={220}
          value={model.match}
          onChange={(event) => onChange({ ...model, match: event.currentTarget.value as Model["match"] })}
          data={[
            { value: "all", label: "All of these match" },
            { value: "any", label: "Any of these matches" },
          ]}
        />
      )}
      {model.conditions.map((condition, index) => {
        const part = { attributes, onChange: (next: Condition | undefined) => set(index, next) };
        // biome-ignore-start lint/suspicious/noArrayIndexKey: conditions have no id
        if (condition.kind === "share") return <Share key={index} condition={condition} {...part} />;
        if (condition.kind === "compare") return <Compare key={index} condition={condition} {...part} />;
        return <Nested key={index} condition={condition} seed={seed} depth={depth + 1} {...part} />;
        // biome-ignore-end lint/suspicious/noArrayIndexKey: conditions have no id
      })}
      {model.conditions.length === 0 && (
        <Text size="sm" className="muted">
          Without a condition the {depth > 0 ? "group is ignored" : "rule never matches"}.
        </Text>
      )}
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={() => add(empty)}>
          Add condition
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => add({ kind: "share", by: "user.key", seed, percent: 10 })}>
          Add percentage
        </Button>
        {depth < deepest && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => add({ kind: "group", match: model.match === "all" ? "any" : "all", conditions: [empty, empty] })}
          >
            Add group
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** deepest is how deep groups can be added; deeper ones are shown. */
const deepest = 3;

const empty: Condition = { kind: "compare", attribute: "user.key", operator: "is", value: "" };

type Comparing = Extract<Condition, { kind: "compare" }>;
type Sharing = Extract<Condition, { kind: "share" }>;
type Grouping = Extract<Condition, { kind: "group" }>;
type Change = (condition: Condition | undefined) => void;

interface GroupProps extends Pick<Props, "attributes" | "seed"> {
  condition: Grouping;
  depth: number;
  onChange: Change;
}

function Nested({ condition, onChange, ...props }: GroupProps) {
  return (
    <fieldset className={styles.group} aria-label="Group of conditions">
      <Builder {...props} model={condition} onChange={(model) => onChange({ kind: "group", ...model })} />
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(undefined)} aria-label="Remove group of conditions">
        Remove group
      </Button>
    </fieldset>
  );
}

function Compare({ condition, attributes, onChange }: { condition: Comparing; attributes: Attributes; onChange: Change }) {
  const { attribute, operator, value } = condition;
  const isList = operator === "oneOf" || operator === "notOneOf";
  const hasValue = operator !== "isSet" && operator !== "isNotSet";
  // A value can be written in several ways, 1.0 is 1, so the field shows the text as it was typed while that is the value.
  const [typing, setTyping] = useState("");
  const stored = textFor(operator, value);
  const text = hasValue && textFor(operator, valueFor(operator, typing)) === stored ? typing : stored;
  // A text stays a text: the version 1.2 does not become a number.
  const valueAs = (next: Operator) => valueFor(next, typeof value === "string" ? textFor(next, value) : text);
  const choose = (next: Operator) => onChange({ ...condition, operator: next, value: valueAs(next) });
  const name = (next: string) => {
    const fitting = operatorFor(attributes.typeOf(next), operator);
    onChange({ kind: "compare", attribute: next, operator: fitting, value: fitting === operator ? value : valueAs(fitting) });
  };
  const retype = (next: string) => {
    const fitting = ordered.includes(operator) ? operatorFor(typeOf([next.trim()]), operator) : operator;
    const isFitting = fitting !== operator && (comparisons.version.includes(fitting) || comparisons.date.includes(fitting));
    const chosen = isFitting ? fitting : operator;
    setTyping(next);
    onChange({ ...condition, operator: chosen, value: valueFor(chosen, next) });
  };
  return (
    <div className={styles.condition}>
      <Autocomplete size="xs" aria-label="Attribute" data={attributes.names} value={attribute} onChange={name} />
      <NativeSelect
        size="xs"
        aria-label="Comparison"
        value={operator}
        onChange={(event) => choose(event.currentTarget.value as Operator)}
        data={choicesFor(attributes.typeOf(attribute))}
      />
      {hasValue ? (
        <TextInput
          size="xs"
          aria-label="Value"
          placeholder={isList ? "one, two, three" : "value"}
          value={text}
          error={text === "" ? undefined : problemOf(condition)}
          onChange={(event) => retype(event.currentTarget.value)}
        />
      ) : (
        <span />
      )}
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(undefined)} aria-label={`Remove the condition on ${attribute}`}>
        Remove
      </Button>
    </div>
  );
}

/** ordered are the operators that would compare a version or a date as a number. */
const ordered: Operator[] = ["less", "atMost", "greater", "atLeast"];

const choice = (operator: Operator) => ({ value: operator, label: operators[operator] });

/** choicesFor returns the operators, first those that fit the type of the attribute. */
function choicesFor(type: AttributeType | undefined) {
  const all = Object.keys(operators) as Operator[];
  if (!type) return all.map(choice);
  const fitting = comparisons[type];
  return [
    { group: `For a ${type}`, items: fitting.map(choice) },
    { group: "Other", items: all.filter((operator) => !fitting.includes(operator)).map(choice) },
  ];
}

function Share({ condition, attributes, onChange }: { condition: Sharing; attributes: Attributes; onChange: Change }) {
  return (
    <div className={styles.share}>
      <Autocomplete
        size="xs"
        aria-label="Share by"
        data={attributes.names}
        value={condition.by}
        onChange={(by) => onChange({ ...condition, by })}
      />
      <Group gap="sm" wrap="nowrap">
        <Slider
          flex={1}
          min={0}
          max={100}
          value={condition.percent}
          onChange={(percent) => onChange({ ...condition, percent })}
          label={null}
          thumbLabel="Percentage"
          thumbProps={{ "aria-label": "Percentage" }}
        />
        <Text size="sm" w={46} ta="right" className="tabular">
          {condition.percent} %
        </Text>
      </Group>
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(undefined)} aria-label="Remove the percentage">
        Remove
      </Button>
    </div>
  );
}
