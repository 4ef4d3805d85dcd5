import { Button, Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import type { Environment } from "../api/session";
import { type Drafting, useDraft } from "../ui/draft";
import { FormModal } from "../ui/FormModal";
import { JsonEditor } from "../ui/JsonEditor";
import { SubmitButton } from "../ui/SubmitButton";
import { textOf, valueFrom } from "../ui/typed";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { Builder } from "./Builder";
import { type Edited, type Flag, type Rule, replaceRule, withSettings } from "./flags";
import { build, type Model, parse, problemOf } from "./rules";
import { useAttributes } from "./useAttributes";
import { ValueInput } from "./ValueInput";

interface Props {
  flag: Flag;
  environment: Environment;
  etag: string;
  /** edited is the rule to edit; without it a new rule is added. */
  edited?: Edited;
  close: () => void;
}

interface Form {
  description: string;
  /** model is absent if the builder cannot show the rule; then it is edited as JSON. */
  model?: Model;
  logic: string;
  asJson: boolean;
  value: string;
  /** edited is kept with the draft, because the rule may have moved when the draft is restored. */
  edited?: Edited;
}

function formOf({ type, default: fallback }: Flag["attributes"], edited?: Edited): Form {
  if (!edited) {
    const model: Model = { match: "all", conditions: [{ kind: "compare", attribute: "user.key", operator: "is", value: "" }] };
    return { description: "", model, logic: "{}", asJson: false, value: textOf(type === "BOOLEAN" ? !fallback : fallback, type) };
  }
  const { logic, value, description } = edited.rule;
  const model = parse(logic);
  return { description, model, logic: textOf(logic, "JSON"), asJson: !model, value: textOf(value, type), edited };
}

/** RuleEditor edits a rule as JSON, or with the builder if the builder can show the rule exactly. */
export function RuleEditor({ flag, environment, etag, edited, close }: Props) {
  const writer = useWriter();
  const { type, values } = flag.attributes;
  const place = `flag:${flag.id}/${environment.id}/rule:${edited ? edited.index + 1 : "new"}`;
  const draft = useDraft(place, etag, formOf(flag.attributes, edited));
  const { description, model, logic, asJson, value } = draft.value;
  const rule = draft.base.edited?.rule;
  const { submit, failure, busy } = useSubmit(async () => {
    const problem = asJson || !model ? undefined : problemOf({ kind: "group", ...model });
    if (problem) throw new Error(`${problem}.`);
    const next: Rule = {
      description,
      logic: asJson || !model ? (valueFrom("The JSON Logic", logic, "JSON") as Rule["logic"]) : build(model),
      value: valueFrom("The served value", value, type),
    };
    const written = await writer.perform({
      kind: "flag",
      id: flag.id,
      etag: draft.version,
      title: `${rule ? "Change" : "Add"} a rule of ${flag.id} in ${environment.name}`,
      done: `${rule ? "Changed" : "Added"} a rule of ${flag.id}.`,
      environments: [environment.id],
      change: (current) =>
        withSettings(current, environment.id, (settings) => ({ ...settings, rules: replaceRule(settings.rules, draft.base.edited, next) })),
    });
    if (!written) return;
    draft.discard();
    close();
  });
  const problems = (failure?.problems ?? []).map(({ detail, title, source }) => ({
    message: detail ?? title,
    pointer: source?.pointer?.replace(/^.*\/logic/, ""),
  }));

  return (
    <FormModal
      draft={draft}
      onClose={close}
      title={`${rule ? "Rule" : "New rule"} in ${environment.name}`}
      size="xl"
      closeOnClickOutside={false}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => draft.change({ description: event.currentTarget.value })}
            maxLength={2000}
            data-autofocus
          />
          <Logic draft={draft} seed={`${flag.id}.`} problems={problems} />
          <ValueInput label="Serve" type={type} values={values} text={value} onChange={(text) => draft.change({ value: text })} />
          {failure && (
            <Text size="sm" role="alert" className="error">
              {failure.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button
              variant="default"
              onClick={() => {
                draft.discard();
                close();
              }}
            >
              Cancel
            </Button>
            <SubmitButton environment={environment.id} busy={busy}>
              {rule ? "Save" : "Add"}
            </SubmitButton>
          </Group>
        </Stack>
      </form>
    </FormModal>
  );
}

/** Logic edits the condition of a rule, with the builder or as JSON. */
function Logic({ draft, seed, problems }: { draft: Drafting<Form>; seed: string; problems: { message: string; pointer?: string }[] }) {
  const attributes = useAttributes();
  const { model, logic, asJson } = draft.value;
  const switchTo = (json: boolean) =>
    draft.change(
      json ? { asJson: true, ...(model && { logic: textOf(build(model), "JSON") }) } : { asJson: false, model: readable(logic) },
    );
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Edit as"
        value={asJson ? "json" : "builder"}
        onChange={(chosen) => switchTo(chosen === "json")}
        data={[
          { value: "builder", label: "Builder", disabled: asJson && readable(logic) === undefined },
          { value: "json", label: "JSON Logic" },
        ]}
      />
      {asJson || !model ? (
        <>
          <JsonEditor
            label="JSON Logic"
            value={logic}
            onChange={(text) => draft.change({ logic: text })}
            problems={problems}
            completions={attributes.names}
          />
          {readable(logic) === undefined && (
            <Text size="xs" className="muted">
              The builder cannot show this exactly, so it stays JSON.
            </Text>
          )}
        </>
      ) : (
        <Builder model={model} onChange={(model) => draft.change({ model })} attributes={attributes} seed={seed} />
      )}
    </>
  );
}

function readable(text: string): Model | undefined {
  try {
    return parse(valueFrom("The JSON Logic", text, "JSON"));
  } catch {
    return undefined;
  }
}
