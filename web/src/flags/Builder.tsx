import { Autocomplete, Button, Group, NativeSelect, Slider, Stack, Text, TextInput } from "@mantine/core";
import styles from "./Rules.module.css";
import { type Condition, type Model, type Operator, operators, textOf, typed } from "./rules";

interface Props {
  model: Model;
  onChange: (model: Model) => void;
  attributes: string[];
  /** seed is hashed with the user, so that percentages of different flags choose different users. */
  seed: string;
}

/** Builder edits the conditions of a rule. */
export function Builder({ model, onChange, attributes, seed }: Props) {
  const set = (index: number, condition: Condition | undefined) =>
    onChange({ ...model, conditions: model.conditions.flatMap((each, at) => (at === index ? (condition ? [condition] : []) : [each])) });
  const add = (condition: Condition) => onChange({ ...model, conditions: [...model.conditions, condition] });
  return (
    <Stack gap="xs">
      {model.conditions.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Match"
          w={220}
          value={model.match}
          onChange={(event) => onChange({ ...model, match: event.currentTarget.value as Model["match"] })}
          data={[
            { value: "all", label: "All of these match" },
            { value: "any", label: "Any of these matches" },
          ]}
        />
      )}
      {model.conditions.map((condition, index) =>
        condition.kind === "share" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id
          <Share key={index} condition={condition} attributes={attributes} onChange={(next) => set(index, next)} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id
          <Compare key={index} condition={condition} attributes={attributes} onChange={(next) => set(index, next)} />
        ),
      )}
      {model.conditions.length === 0 && (
        <Text size="sm" className="muted">
          Without a condition the rule never matches.
        </Text>
      )}
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => add({ kind: "compare", attribute: "user.key", operator: "is", value: "" })}
        >
          Add condition
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => add({ kind: "share", by: "user.key", seed, percent: 10 })}>
          Add percentage
        </Button>
      </Group>
    </Stack>
  );
}

type Comparing = Extract<Condition, { kind: "compare" }>;
type Sharing = Extract<Condition, { kind: "share" }>;
type Change = (condition: Condition | undefined) => void;

function Compare({ condition, attributes, onChange }: { condition: Comparing; attributes: string[]; onChange: Change }) {
  const { attribute, operator, value } = condition;
  const isList = operator === "oneOf" || operator === "notOneOf";
  const hasValue = operator !== "isSet" && operator !== "isNotSet";
  const read = (text: string, list: boolean) => (list ? text.split(",").map((part) => typed(part)) : typed(text));
  const choose = (next: Operator) => {
    const list = next === "oneOf" || next === "notOneOf";
    const empty = next === "isSet" || next === "isNotSet";
    onChange({ ...condition, operator: next, value: empty ? null : read(textOf(value), list) });
  };
  return (
    <div className={styles.condition}>
      <Autocomplete
        size="xs"
        aria-label="Attribute"
        data={attributes}
        value={attribute}
        onChange={(next) => onChange({ ...condition, attribute: next })}
      />
      <NativeSelect
        size="xs"
        aria-label="Comparison"
        value={operator}
        onChange={(event) => choose(event.currentTarget.value as Operator)}
        data={Object.entries(operators).map(([key, label]) => ({ value: key, label }))}
      />
      {hasValue ? (
        <TextInput
          size="xs"
          aria-label="Value"
          placeholder={isList ? "one, two, three" : "value"}
          defaultValue={textOf(value)}
          key={operator}
          onChange={(event) => onChange({ ...condition, value: read(event.currentTarget.value, isList) })}
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

function Share({ condition, attributes, onChange }: { condition: Sharing; attributes: string[]; onChange: Change }) {
  return (
    <div className={styles.share}>
      <Autocomplete
        size="xs"
        aria-label="Share by"
        data={attributes}
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
