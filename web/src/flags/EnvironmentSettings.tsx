import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Environment } from "../api/session";
import { OrderList } from "../ui/OrderList";
import { useRefusal } from "../ui/RoleGate";
import { useWriter } from "../ui/WriteProvider";
import { arranged, chipOf, type Flag, keysOf, type Rule, replaceRule, type Settings, settingsIn, withSettings } from "./flags";
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
  const [editing, setEditing] = useState<{ rule?: Rule }>();
  const refusal = useRefusal("MEMBER", environment.id);
  const reason = !flag.attributes.managed
    ? "The flag is discovered; manage it first."
    : !environment.managed
      ? `${environment.name} is not managed: its values are frozen.`
      : refusal;
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
      {reason ? (
        <Text size="sm" className="muted" role="note">
          {reason}
        </Text>
      ) : (
        <Toggle
          flag={flag}
          environment={environment}
          label={settings.enabled ? "On: the rules apply" : "Off: the default is served, the rules are ignored"}
        />
      )}
      <section aria-label="Rules">
        <Group justify="space-between" mb="xs">
          <Text size="sm" fw={600}>
            Rules, first match wins
          </Text>
          <Button size="compact-sm" variant="default" disabled={Boolean(reason)} onClick={() => setEditing({})}>
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
              {({ rule }) => (
                <RuleLine
                  rule={rule}
                  disabled={Boolean(reason)}
                  onEdit={() => setEditing({ rule })}
                  onDelete={() =>
                    void write(`Delete a rule ${where}`, "The rule was deleted.", (old) => ({
                      ...old,
                      rules: replaceRule(old.rules, rule, undefined),
                    }))
                  }
                />
              )}
            </OrderList>
          </div>
        )}
      </section>
      <DefaultValue
        key={JSON.stringify(settings.default)}
        flag={flag}
        settings={settings}
        disabled={Boolean(reason)}
        onSave={(value) =>
          void write(`Change the default ${where}`, `The default ${where} is ${chipOf(value ?? flag.attributes.default)}.`, (old) => ({
            ...old,
            default: value,
          }))
        }
      />
      {editing && <RuleEditor flag={flag} environment={environment} etag={etag} rule={editing.rule} close={() => setEditing(undefined)} />}
    </Stack>
  );
}

const nameOf = ({ description, logic }: Rule) => description || sentenceOf(logic);

function itemsOf(rules: Rule[]) {
  const keys = keysOf(rules);
  return rules.map((rule, index) => ({ id: keys[index] as string, name: nameOf(rule), rule }));
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
  settings: Settings;
  disabled: boolean;
  onSave: (value: unknown) => void;
}

function DefaultValue({ flag, settings, disabled, onSave }: DefaultProps) {
  const { type, values, default: fallback } = flag.attributes;
  const own = settings.default ?? null;
  const [value, setValue] = useState<unknown>(own ?? fallback);
  const isChanged = JSON.stringify(value) !== JSON.stringify(own ?? fallback) || (own === null && value !== fallback);
  return (
    <section aria-label="Default">
      <Group align="flex-end" gap="sm">
        <div className={styles.default}>
          <ValueInput
            label={own === null ? "Otherwise, the flag's own default" : "Otherwise"}
            type={type}
            values={values}
            value={value}
            onChange={setValue}
            disabled={disabled}
          />
        </div>
        <Button size="xs" disabled={disabled || !isChanged} onClick={() => onSave(value)}>
          Save
        </Button>
        {own !== null && (
          <Button size="xs" variant="default" disabled={disabled} onClick={() => onSave(null)}>
            Use the flag's default ({chipOf(fallback)})
          </Button>
        )}
      </Group>
    </section>
  );
}
