import { Button, Group, Stack, Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import type { Environment } from "../api/session";
import { useSetSearch } from "../app/focus";
import { short } from "../ui/diff";
import { drafts, useDraft } from "../ui/draft";
import { OrderList } from "../ui/OrderList";
import { useRefusal } from "../ui/RoleGate";
import { readAs, textOf } from "../ui/typed";
import { useWriter } from "../ui/WriteProvider";
import { arranged, chipOf, type Edited, type Flag, keysOf, type Rule, replaceRule, type Settings, settingsIn, withSettings } from "./flags";
import { RuleEditor } from "./RuleEditor";
import styles from "./Rules.module.css";
import { sentenceOf } from "./rules";
import { Toggle } from "./Toggle";
import { ValueInput } from "./ValueInput";

interface Props {
  flag: Flag;
  etag: string;
  environment: Environment;
}

/** EnvironmentSettings shows and changes a flag in one environment: the switch, the rules, the default. */
export default function EnvironmentSettings({ flag, etag, environment }: Props) {
  const writer = useWriter();
  const settings = settingsIn(flag.attributes, environment.id);
  const { rule: editing } = useSearch({ strict: false }) as { rule?: string };
  const setSearch = useSetSearch();
  const refusal = useRefusal("MEMBER", environment.id);
  const frozen = !flag.attributes.managed
    ? "The flag is discovered; manage it first."
    : !environment.managed
      ? `${environment.name} is not managed: its values are frozen.`
      : undefined;
  const reason = frozen ?? refusal;
  const write = (title: string, done: string, change: (settings: Settings) => Settings) =>
    writer.attempt({
      kind: "flag",
      id: flag.id,
      title,
      done,
      environments: [environment.id],
      change: (current) => withSettings(current, environment.id, change),
    });
  const where = `of ${flag.id} in ${environment.name}`;

  return (
    <Stack gap="lg">
      <div>
        {flag.attributes.managed && (
          <Toggle
            flag={flag}
            environment={environment}
            frozen={Boolean(reason)}
            label={settings.enabled ? "On: the rules apply" : "Off: the default is served, the rules are ignored"}
          />
        )}
        {reason && (
          <Text size="sm" className="muted" role="note">
            {reason}
          </Text>
        )}
      </div>
      <section aria-label="Rules">
        <Group justify="space-between" mb="xs">
          <Text size="sm" fw={600}>
            Rules, first match wins
          </Text>
          <Button size="compact-sm" variant="default" disabled={Boolean(reason)} onClick={() => setSearch({ rule: "new" })}>
            Add rule
          </Button>
        </Group>
        {settings.rules.length === 0 && (
          <Text size="sm" className="muted">
            No rules: everybody gets the default.
          </Text>
        )}
        {settings.rules.length > 0 && (
          <div className={styles.rules} data-off={!settings.enabled || undefined}>
            <OrderList
              label="Rules in order"
              items={itemsOf(settings.rules)}
              disabled={Boolean(reason)}
              onOrder={(keys) =>
                write(`Move a rule ${where}`, "The rule was moved.", (old) => ({ ...old, rules: arranged(old.rules, keys) })).then(() => {})
              }
            >
              {({ rule, index }) => (
                <RuleLine
                  rule={rule}
                  disabled={Boolean(reason)}
                  onEdit={() => setSearch({ rule: String(index + 1) })}
                  onDelete={() =>
                    void write(`Delete a rule ${where}`, `Deleted the rule ${short(nameOf(rule), 60)}.`, (old) => ({
                      ...old,
                      rules: replaceRule(old.rules, { rule, index, among: settings.rules }, undefined),
                    }))
                  }
                />
              )}
            </OrderList>
          </div>
        )}
      </section>
      <DefaultValue
        flag={flag}
        environment={environment.id}
        settings={settings}
        disabled={Boolean(reason)}
        onSave={(value) =>
          write(`Change the default ${where}`, `The default ${where} is ${chipOf(value ?? flag.attributes.default)}.`, (old) => ({
            ...old,
            default: value,
          }))
        }
      />
      {editing && !frozen && (
        <EditedRule number={editing} {...{ flag, environment, etag }} rules={settings.rules} close={() => setSearch({ rule: undefined })} />
      )}
    </Stack>
  );
}

interface EditedProps extends Props {
  /** number is the rule's number in the list, or "new". */
  number: string;
  rules: Rule[];
  close: () => void;
}

/** EditedRule edits the rule that the address names. A draft is edited further even if the rule is gone. */
function EditedRule({ number, rules, close, ...props }: EditedProps) {
  const rule = rules[Number(number) - 1];
  const kept = drafts.read<{ edited?: Edited }>(`flag:${props.flag.id}/${props.environment.id}/rule:${number}`)?.base.edited;
  const edited = kept ?? (rule && { rule, index: Number(number) - 1, among: rules });
  if (number !== "new" && !edited) return null;
  return <RuleEditor key={number} {...props} edited={number === "new" ? undefined : edited} close={close} />;
}

const nameOf = ({ description, logic }: Rule) => description || sentenceOf(logic);

function itemsOf(rules: Rule[]) {
  const keys = keysOf(rules);
  return rules.map((rule, index) => ({ id: keys[index] as string, name: nameOf(rule), rule, index }));
}

interface LineProps {
  rule: Rule;
  disabled: boolean;
  onEdit: () => void;
  onDelete: () => void;
}

function RuleLine({ rule, disabled, onEdit, onDelete }: LineProps) {
  return (
    <div className={styles.rule}>
      <div className={styles.text}>
        {rule.description && <div className={styles.description}>{rule.description}</div>}
        <div>
          If <strong>{sentenceOf(rule.logic)}</strong>, serve <code className={styles.value}>{chipOf(rule.value)}</code>
        </div>
      </div>
      <Group gap={4} wrap="nowrap">
        <Button size="compact-xs" variant="default" disabled={disabled} onClick={onEdit} aria-label={`Edit ${nameOf(rule)}`}>
          Edit
        </Button>
        <Button size="compact-xs" variant="default" disabled={disabled} onClick={onDelete} aria-label={`Delete ${nameOf(rule)}`}>
          Delete
        </Button>
      </Group>
    </div>
  );
}

interface DefaultProps {
  flag: Flag;
  environment: string;
  settings: Settings;
  disabled: boolean;
  /** onSave reports whether the value was saved. */
  onSave: (value: unknown) => Promise<boolean>;
}

/** DefaultValue edits the value that is served when no rule matches. A save by somebody else does not replace the typed text. */
function DefaultValue({ flag, environment, settings, disabled, onSave }: DefaultProps) {
  const { type, values, default: fallback } = flag.attributes;
  const own = settings.default ?? null;
  const current = own ?? fallback;
  const draft = useDraft(`flag:${flag.id}/${environment}/default`, JSON.stringify(own), { text: textOf(current, type) });
  const read = readAs(draft.value.text, type);
  const save = async (value: unknown) => {
    if (await onSave(value)) draft.discard();
  };
  return (
    <section aria-label="Default">
      <Group align="flex-end" gap="sm">
        <div className={styles.default}>
          <ValueInput
            label={own === null ? "Otherwise, the flag's own default" : "Otherwise"}
            type={type}
            values={values}
            text={draft.value.text}
            onChange={(text) => draft.change({ text })}
            disabled={disabled}
            hint={null}
          />
        </div>
        <Button
          size="xs"
          disabled={disabled || !draft.isChanged || read.problem !== undefined}
          onClick={() => read.problem === undefined && save(read.value)}
        >
          Save
        </Button>
        {own !== null && (
          <Button size="xs" variant="default" disabled={disabled} onClick={() => save(null)}>
            Use the flag's default ({chipOf(fallback)})
          </Button>
        )}
      </Group>
      {draft.isOutdated && (
        <Group gap="xs" mt={6}>
          <Text size="xs" role="status">
            Somebody changed it to {chipOf(current)} while you were typing. Saving replaces that.
          </Text>
          <Button size="compact-xs" variant="default" onClick={draft.discard}>
            Discard mine
          </Button>
        </Group>
      )}
    </section>
  );
}
