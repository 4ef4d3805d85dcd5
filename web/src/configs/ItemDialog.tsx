import { Alert, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { changedMembers } from "../ui/diff";
import { type Drafting, useDraft } from "../ui/draft";
import { FormModal } from "../ui/FormModal";
import { JsonEditor } from "../ui/JsonEditor";
import { RoleGate } from "../ui/RoleGate";
import type { Read } from "../ui/typed";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import styles from "./configs.module.css";
import { problemsAt } from "./problems";
import { ValueInput } from "./ValueInput";
import { type Config, type Item, type ItemType, type Level, pointerOf, readAs, textOf, types, withoutItem, writable } from "./values";

interface Draft {
  key: string;
  type: ItemType;
  text: string;
  description: string;
  /** schema is "" for none. */
  schema: string;
}

const draftOf = (key: string, item?: Item): Draft => ({
  key,
  type: item?.type ?? "STRING",
  text: textOf(item?.value, item?.type ?? "STRING"),
  description: item?.description ?? "",
  schema: item?.schema === undefined || item.schema === null ? "" : textOf(item.schema, "JSON"),
});

/** itemOf returns the item of a draft, or the problem with it. */
function itemOf({ type, text, description, schema }: Draft): { item: Item; problem?: undefined } | { problem: string } {
  const read = readAs(text, type);
  if (read.problem !== undefined) return { problem: `The value ${read.problem}.` };
  const rules: Read = type !== "JSON" || schema.trim() === "" ? { value: null } : readAs(schema, "JSON");
  if (rules.problem !== undefined) return { problem: `The schema ${rules.problem}.` };
  return { item: { value: read.value, type, description: description || null, schema: rules.value } };
}

/** ItemDialog declares a new item, or changes the item itemKey: its type, default, description and JSON Schema. */
export function ItemDialog({ level, itemKey, onClose }: { level: Level; itemKey?: string; onClose: () => void }) {
  const draft = useDraft(
    `config:${level.id}/${itemKey === undefined ? "new" : `item:${itemKey}`}`,
    level.etag ?? "",
    draftOf(itemKey ?? "", level.config.items[itemKey ?? ""]),
  );
  return (
    <FormModal
      draft={draft}
      onClose={onClose}
      title={itemKey === undefined ? `New item of ${level.id}` : `${itemKey} of ${level.id}`}
      size="lg"
    >
      <Form level={level} itemKey={itemKey} kept={draft} onClose={onClose} />
    </FormModal>
  );
}

interface FormProps {
  level: Level;
  itemKey?: string;
  kept: Drafting<Draft>;
  onClose: () => void;
}

function Form({ level: { id, config }, itemKey, kept, onClose }: FormProps) {
  const writer = useWriter();
  const isNew = itemKey === undefined;
  const { value: draft, change } = kept;
  const read = itemOf(draft);
  const at = `/data/attributes/items/${draft.key}`;
  const taken = isNew && draft.key in config.items ? `${id} has this item already` : undefined;

  const { submit, failure, busy } = useSubmit(async () => {
    if (read.problem !== undefined || taken) return;
    const done = await writer.perform({
      kind: "config",
      id,
      etag: isNew ? undefined : kept.version,
      title: `${isNew ? "Add" : "Change"} ${draft.key} of ${id}`,
      done: `Saved ${draft.key} of ${id}.`,
      environments: isNew ? [] : ["production"],
      change: (current) => {
        const now = writable(current as unknown as Config);
        const opened = itemOf(kept.base);
        const item = opened.problem === undefined ? changedMembers(opened.item, read.item) : read.item;
        return { ...now, items: { ...now.items, [draft.key]: isNew ? read.item : { ...(now.items[draft.key] ?? read.item), ...item } } };
      },
    });
    if (!done) return;
    kept.discard();
    onClose();
  });

  return (
    <Stack component="form" gap="sm" onSubmit={submit}>
      <Group grow align="flex-start">
        {isNew && (
          <TextInput
            label="Key"
            placeholder="timeout_ms"
            required
            data-autofocus
            value={draft.key}
            onChange={(event) => change({ key: event.currentTarget.value })}
            error={taken ?? failure?.at(at)}
          />
        )}
        <NativeSelect
          label="Type"
          data={types}
          data-autofocus={!isNew || undefined}
          value={draft.type}
          onChange={(event) => {
            const type = event.currentTarget.value as ItemType;
            change({ type, text: textOf(undefined, type) });
          }}
          error={failure?.at(`${at}/type`)}
        />
      </Group>
      <div>
        <Text size="sm" fw={500} mb={4}>
          Default
        </Text>
        <ValueInput
          type={draft.type}
          label="Default"
          text={draft.text}
          onChange={(text) => change({ text })}
          problems={problemsAt(failure, pointerOf({ key: draft.key })).filter(({ pointer }) => pointer !== undefined)}
        />
      </div>
      <TextInput
        label="Description"
        value={draft.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
        error={failure?.at(`${at}/description`)}
      />
      {draft.type === "JSON" && (
        <div>
          <Text size="sm" fw={500}>
            JSON Schema
          </Text>
          <Text size="xs" className="muted" mb={4}>
            Draft 2020-12. It holds for the merged value in every environment, here and in configs that inherit it; empty for none.
          </Text>
          <div className={styles.editor}>
            <JsonEditor
              label="JSON Schema"
              value={draft.schema}
              onChange={(schema) => change({ schema })}
              minHeight={80}
              problems={problemsAt(failure, `${at}/schema`).filter(({ pointer }) => pointer !== undefined)}
            />
          </div>
        </div>
      )}
      {(failure || (read.problem && draft.text !== "")) && (
        <Alert color={failure ? "red" : "yellow"} variant="light" role="alert">
          <Text size="sm">{failure?.message ?? read.problem}</Text>
        </Alert>
      )}
      <Group justify="space-between">
        {isNew ? <span /> : <DeleteItem level={{ id, config }} itemKey={itemKey} onDone={onClose} />}
        <RoleGate needs="MEMBER">
          {(disabled) => (
            <Button type="submit" size="sm" loading={busy} disabled={disabled || read.problem !== undefined || draft.key === ""}>
              {isNew ? "Add the item" : "Save"}
            </Button>
          )}
        </RoleGate>
      </Group>
    </Stack>
  );
}

function DeleteItem({ level: { id, config }, itemKey, onDone }: { level: Level; itemKey: string; onDone: () => void }) {
  const writer = useWriter();
  const overridden = Object.entries(config.environments).flatMap(([environment, values]) => (itemKey in values ? [environment] : []));
  const remove = async () => {
    const done = await writer.attempt({
      kind: "config",
      id,
      title: `Remove ${itemKey} from ${id}`,
      done: `Removed ${itemKey} from ${id}.`,
      confirm: true,
      consequences:
        overridden.length === 0
          ? "Services no longer get this value, unless a config above declares it."
          : `Services no longer get this value, unless a config above declares it. Its overrides in ${overridden.join(", ")} go with it.`,
      change: (current) => withoutItem(current as unknown as Config, itemKey),
    });
    if (done) onDone();
  };
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Button size="sm" variant="default" disabled={disabled} onClick={remove}>
          Remove…
        </Button>
      )}
    </RoleGate>
  );
}
