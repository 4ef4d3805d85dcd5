import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { pathOf } from "../api/kinds";
import { useList } from "../api/queries";
import { CopyAs } from "../ui/CopyAs";
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

/** NewConfig is the form that creates a config. */
export function NewConfig({ onClose }: { onClose: () => void }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const attributes = ({ name, description, parent }: Draft) => ({
    name: name || undefined,
    description: description || null,
    parent: parent || null,
  });
  const save = async (draft: Draft) => {
    const made = await writer.perform({
      kind: "config",
      id: draft.id,
      method: "POST",
      title: `Create the config ${draft.id}`,
      done: `Created ${draft.id}.`,
      change: () => attributes(draft),
    });
    if (made) await navigate({ to: "/configs/$id", params: { id: made.id }, search: { add: "1" } });
  };
  return (
    <Modal opened onClose={onClose} title="New config">
      <ConfigForm
        initial={{ id: "", name: "", description: "", parent: "common" }}
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
    </Modal>
  );
}

/** EditConfig changes a config's name, description and parent. */
export function EditConfig({ level: { id, config }, onClose }: { level: Level; onClose: () => void }) {
  const writer = useWriter();
  const save = async ({ name, description, parent }: Draft) => {
    const done = await writer.perform({
      kind: "config",
      id,
      title: `Change the config ${id}`,
      done: `${id} is saved.`,
      confirm: (config.parent ?? "") !== parent,
      consequences:
        (config.parent ?? "") !== parent &&
        "Another parent changes the inherited values of this config and the configs below it, in all environments.",
      change: (current) => ({
        ...writable(current as unknown as Config),
        name: name || id,
        description: description || null,
        parent: parent || null,
      }),
    });
    if (done) onClose();
  };
  const initial = { id, name: config.name, description: config.description ?? "", parent: config.parent ?? "" };
  return (
    <Modal opened onClose={onClose} title={`Settings of ${id}`}>
      <ConfigForm initial={initial} onSave={save} />
    </Modal>
  );
}

interface Form {
  initial: Draft;
  isNew?: boolean;
  onSave: (draft: Draft) => Promise<void>;
  footer?: (draft: Draft) => React.ReactNode;
}

function ConfigForm({ initial, isNew, onSave, footer }: Form) {
  const [draft, setDraft] = useState(initial);
  const { submit, failure, busy } = useSubmit(() => onSave(draft));
  const { data } = useList("config", { "page[size]": 1000 });
  const parents = (data?.data ?? []).map(({ id }) => id).filter((id) => id !== initial.id);
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
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
        <Button type="submit" size="sm" loading={busy}>
          {isNew ? "Create" : "Save"}
        </Button>
      </Group>
    </Stack>
  );
}
