import { Alert, Group, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { pathOf } from "../api/kinds";
import { useList } from "../api/queries";
import { CopyAs } from "../ui/CopyAs";
import { changedMembers } from "../ui/diff";
import { type Drafting, useDraft } from "../ui/draft";
import { FormModal } from "../ui/FormModal";
import { SubmitButton } from "../ui/SubmitButton";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { type Config, type Level, writable } from "./values";

interface Draft {
  id: string;
  name: string;
  description: string;
  /** parent is "" for none. */
  parent: string;
}

const blank: Draft = { id: "", name: "", description: "", parent: "common" };

/** NewConfig is the form that creates a config. */
export function NewConfig({ onClose }: { onClose: () => void }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const attributes = ({ name, description, parent }: Draft) => ({
    name: name || undefined,
    description: description || null,
    parent: parent || null,
  });
  const kept = useDraft("config:new", "", blank);
  const save = async (draft: Draft) => {
    const made = await writer.perform({
      kind: "config",
      id: draft.id,
      method: "POST",
      title: `Create the config ${draft.id}`,
      done: `Created ${draft.id}.`,
      change: () => attributes(draft),
    });
    if (!made) return;
    kept.discard();
    await navigate({ to: "/configs/$id", params: { id: made.id }, search: { add: "1" } });
  };
  return (
    <FormModal draft={kept} onClose={onClose} title="New config">
      <ConfigForm
        kept={kept}
        isNew
        onSave={save}
        footer={(draft) => (
          <CopyAs
            method="POST"
            path={pathOf("config")}
            body={{ data: { type: "config", id: draft.id, attributes: attributes(draft) } }}
            cli={`signalbox configs create ${draft.id || "ID"}${draft.parent ? ` --parent ${draft.parent}` : " --standalone"}`}
          />
        )}
      />
    </FormModal>
  );
}

/** EditConfig changes a config's name, description and parent. */
export function EditConfig({ level: { id, config, etag }, onClose }: { level: Level; onClose: () => void }) {
  const writer = useWriter();
  const initial = { id, name: config.name, description: config.description ?? "", parent: config.parent ?? "" };
  const kept = useDraft(`config:${id}`, etag ?? "", initial);
  const save = async ({ parent }: Draft) => {
    const members = ({ name, description, parent }: Draft) => ({
      name: name || id,
      description: description || null,
      parent: parent || null,
    });
    const done = await writer.perform({
      kind: "config",
      id,
      etag: kept.version,
      title: `Change the config ${id}`,
      done: `Saved ${id}.`,
      confirm: (config.parent ?? "") !== parent,
      consequences:
        (config.parent ?? "") !== parent &&
        "Another parent changes the inherited values of this config and the configs below it, in all environments.",
      change: (current) => ({
        ...writable(current as unknown as Config),
        ...changedMembers(members(kept.base), members(kept.value)),
      }),
    });
    if (!done) return;
    kept.discard();
    onClose();
  };
  return (
    <FormModal draft={kept} onClose={onClose} title={`Settings of ${id}`}>
      <ConfigForm kept={kept} onSave={save} />
    </FormModal>
  );
}

interface Form {
  kept: Drafting<Draft>;
  isNew?: boolean;
  onSave: (draft: Draft) => Promise<void>;
  footer?: (draft: Draft) => React.ReactNode;
}

function ConfigForm({ kept: { value: draft, base, change }, isNew, onSave, footer }: Form) {
  const { submit, failure, busy } = useSubmit(() => onSave(draft));
  const { data } = useList("config", { "page[size]": 1000 });
  const parents = (data?.data ?? []).map(({ id }) => id).filter((id) => id !== base.id);
  const at = (name: string) => failure?.at(`/data/attributes/${name}`);
  return (
    <Stack component="form" gap="sm" onSubmit={submit}>
      {isNew && (
        <TextInput
          label="Id"
          description="The name in the code; it cannot be changed"
          placeholder="checkout"
          required
          data-autofocus
          value={draft.id}
          onChange={(event) => change({ id: event.currentTarget.value })}
          error={failure?.at("/data/id")}
        />
      )}
      <TextInput
        label="Name"
        placeholder={draft.id}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={at("name")}
      />
      <Textarea
        label="Description"
        rows={2}
        value={draft.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
        error={at("description")}
      />
      <NativeSelect
        label="Inherits from"
        value={draft.parent}
        onChange={(event) => change({ parent: event.currentTarget.value })}
        data={[{ value: "", label: "None" }, ...new Set([...(draft.parent ? [draft.parent] : []), ...parents])]}
        error={at("parent")}
      />
      {failure && (
        <Alert color="red" variant="light" role="alert">
          <Text size="sm">{failure.message}</Text>
        </Alert>
      )}
      <Group justify="space-between">
        <span>{footer?.(draft)}</span>
        <SubmitButton size="sm" busy={busy}>
          {isNew ? "Create" : "Save"}
        </SubmitButton>
      </Group>
    </Stack>
  );
}
