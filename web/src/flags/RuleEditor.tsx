import { Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Environment } from "../api/session";
import { JsonEditor } from "../ui/JsonEditor";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { Builder } from "./Builder";
import { type Flag, type Rule, replaceRule, withSettings } from "./flags";
import { build, type Model, parse } from "./rules";
import { useAttributes } from "./useAttributes";
import { ValueInput } from "./ValueInput";

interface Props {
  flag: Flag;
  environment: Environment;
  etag: string;
  /** rule is the rule to edit; without it a new rule is added. */
  rule?: Rule;
  close: () => void;
}

/** RuleEditor edits a rule as JSON, or with the builder if the builder can show the rule exactly. */
export function RuleEditor({ flag, environment, etag, rule, close }: Props) {
  const writer = useWriter();
  const attributes = useAttributes();
  const { type, values, default: fallback } = flag.attributes;
  const [model, setModel] = useState<Model | undefined>(() =>
    rule ? parse(rule.logic) : { match: "all", conditions: [{ kind: "compare", attribute: "user.key", operator: "is", value: "" }] },
  );
  const [text, setText] = useState(() => JSON.stringify(rule?.logic ?? {}, null, 2));
  const [asJson, setAsJson] = useState(rule !== undefined && parse(rule.logic) === undefined);
  const [value, setValue] = useState<unknown>(rule ? rule.value : type === "BOOLEAN" ? !fallback : fallback);
  const [description, setDescription] = useState(rule?.description ?? "");
  const [opened] = useState(etag); // a later write by somebody else is a conflict

  const logic = () => (asJson ? JSON.parse(text) : build(model as Model));
  const switchTo = (json: boolean) => {
    if (json && model) setText(JSON.stringify(build(model), null, 2));
    if (!json) setModel(readable(text));
    setAsJson(json);
  };
  const { submit, failure } = useSubmit(async () => {
    const next: Rule = { description, logic: logic(), value };
    const written = await writer.perform({
      kind: "flag",
      id: flag.id,
      etag: opened,
      title: `${rule ? "Change" : "Add"} a rule of ${flag.id} in ${environment.name}`,
      done: `The rule of ${flag.id} was ${rule ? "changed" : "added"}.`,
      environments: [environment.id],
      change: (current) =>
        withSettings(current, environment.id, (settings) => ({ ...settings, rules: replaceRule(settings.rules, rule, next) })),
    });
    if (written) close();
  });
  const problems = (failure?.problems ?? []).map(({ detail, title, source }) => ({
    message: detail ?? title,
    pointer: source?.pointer?.replace(/^.*\/logic/, ""),
  }));

  return (
    <Modal opened onClose={close} title={`${rule ? "Rule" : "New rule"} in ${environment.name}`} size="xl" closeOnClickOutside={false}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            maxLength={2000}
            data-autofocus
          />
          <SegmentedControl
            size="xs"
            aria-label="Edit as"
            value={asJson ? "json" : "builder"}
            onChange={(chosen) => switchTo(chosen === "json")}
            data={[
              { value: "builder", label: "Builder", disabled: asJson && readable(text) === undefined },
              { value: "json", label: "JSON Logic" },
            ]}
          />
          {asJson || !model ? (
            <>
              <JsonEditor label="JSON Logic" value={text} onChange={setText} problems={problems} completions={attributes} />
              {readable(text) === undefined && (
                <Text size="xs" className="muted">
                  The builder cannot show this exactly, so it stays JSON.
                </Text>
              )}
            </>
          ) : (
            <Builder model={model} onChange={setModel} attributes={attributes} seed={`${flag.id}.`} />
          )}
          <ValueInput label="Serve" type={type} values={values} value={value} onChange={setValue} />
          {failure && (
            <Text size="sm" role="alert" className="error">
              {failure.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit">{rule ? "Save" : "Add"}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function readable(text: string): Model | undefined {
  try {
    return parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
