import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { pathOf } from "../api/kinds";
import type { Environment } from "../api/session";
import { CellPopover } from "../ui/CellPopover";
import { CopyAs } from "../ui/CopyAs";
import { type Drafting, useDraft } from "../ui/draft";
import { AskDiscard, Restored, useLeaving } from "../ui/FormModal";
import type { JsonProblem } from "../ui/JsonEditor";
import { useRefusal } from "../ui/RoleGate";
import { useDryRun } from "../ui/useDryRun";
import { useWriter } from "../ui/WriteProvider";
import { problemsAt } from "./problems";
import { ValueInput } from "./ValueInput";
import {
  type Config,
  frozen,
  isSet,
  type Level,
  pointerOf,
  type Row,
  readAs,
  shown,
  storedAt,
  textOf,
  withoutValue,
  withValue,
} from "./values";

interface Editor {
  level: Level;
  row: Row;
  /** environment is undefined for the item's default. */
  environment?: Environment;
  /** effective is the current resolved value. */
  effective: unknown;
  anchor: HTMLElement | null;
  onClose: () => void;
}

/** ValueEditor changes one value in place; the server checks it while people type. */
export function ValueEditor(props: Editor) {
  const { level, row, environment, effective, anchor, onClose } = props;
  const title = environment ? `${row.key} in ${environment.name}` : `Default of ${row.key}`;
  const place = { key: row.key, environment: environment?.id };
  const opened = textOf(isSet(level.config, place) ? storedAt(level.config, place) : effective, row.item.type);
  const draft = useDraft(`config:${level.id}/${environment?.id ?? "*"}/${row.key}`, opened, { text: opened });
  const { leave, ...asking } = useLeaving(draft, onClose);
  return (
    <CellPopover anchor={anchor} title={title} width={row.item.type === "JSON" ? 520 : 380} isChanged={draft.isChanged} onClose={leave}>
      <Restored draft={draft} />
      <Form {...props} title={title} draft={draft} />
      <AskDiscard {...asking} />
    </CellPopover>
  );
}

interface FormProps extends Editor {
  title: string;
  draft: Drafting<{ text: string }>;
}

function Form({ level: { id, config }, row, environment, effective, onClose, title, draft }: FormProps) {
  const writer = useWriter();
  const place = { key: row.key, environment: environment?.id };
  const isOwn = isSet(config, place);
  const { text } = draft.value;
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<ApiError>();
  const denied = useRefusal("MEMBER", environment?.id);
  const refusal = frozen(environment) ?? denied;
  const read = readAs(text, row.item.type);
  const attributes = read.problem === undefined ? withValue(config, place, read.value, row.item) : undefined;
  const isTried = attributes !== undefined && draft.isChanged && !refusal;
  const { failure, warnings } = useDryRun(isTried ? { kind: "config", id, method: "PUT", attributes } : undefined);
  const problems: JsonProblem[] =
    read.problem !== undefined && row.item.type !== "JSON" ? [{ message: read.problem }] : problemsAt(failure ?? refused, pointerOf(place));

  const write = async (what: "set" | "reset") => {
    if (what === "set" && read.problem !== undefined) return;
    setBusy(true);
    setRefused(undefined);
    const where = environment ? `in ${environment.name}` : "wherever it is not overridden";
    const value = read.problem === undefined ? read.value : undefined;
    try {
      const done = await writer.perform({
        kind: "config",
        id,
        title: what === "set" ? `Set ${row.key} of ${id} ${where}` : `Reset ${row.key} of ${id} ${where}`,
        done: what === "set" ? `${row.key} is ${shown(value, 40)} ${where}.` : `${row.key} is inherited again ${where}.`,
        environments: [environment?.id ?? "production"],
        change: (current) => {
          const now = current as unknown as Config;
          return what === "set" ? withValue(now, place, value, row.item) : withoutValue(now, place);
        },
      });
      if (!done) return;
      draft.discard();
      onClose();
    } catch (problem) {
      setRefused(asApiError(problem));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Stack
      gap="sm"
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        void write("set");
      }}
    >
      <div>
        <Text size="sm" fw={600} className="ellipsis">
          {title}
        </Text>
        {row.item.description && (
          <Text size="xs" className="muted">
            {row.item.description}
          </Text>
        )}
      </div>
      <ValueInput
        type={row.item.type}
        label={title}
        text={text}
        onChange={(text) => draft.change({ text })}
        problems={problems}
        disabled={Boolean(refusal)}
      />
      {row.item.type === "JSON" && environment && (
        <Text size="xs" className="muted">
          Objects are merged with the value that they override: only members that differ are needed here.
        </Text>
      )}
      {warnings.map((warning) => (
        <Alert key={warning} color="yellow" variant="light" p="xs" role="status">
          <Text size="xs">{warning}</Text>
        </Alert>
      ))}
      {draft.isOutdated && (
        <Alert color="yellow" variant="light" p="xs" role="status">
          <Text size="xs">Somebody set this to {shown(effective, 60)} while you were typing.</Text>
        </Alert>
      )}
      {refusal && (
        <Text size="xs" className="muted" role="note">
          {refusal}
        </Text>
      )}
      <Group justify="space-between" gap="xs">
        <Group gap={4}>
          {isOwn && (environment || !row.isOwn) && (
            <Button size="compact-sm" variant="default" disabled={Boolean(refusal) || busy} onClick={() => write("reset")}>
              Reset
            </Button>
          )}
          <CopyAs
            method="PUT"
            path={pathOf("config", id)}
            body={{ data: { type: "config", id, attributes: attributes ?? {} } }}
            cli={`signalbox configs set ${id} '${row.key}=${text}'${environment ? ` -e ${environment.id}` : ""}`}
          />
        </Group>
        <Button type="submit" size="compact-sm" loading={busy} disabled={Boolean(refusal) || read.problem !== undefined}>
          {isOwn ? "Apply" : environment ? "Override" : "Declare here"}
        </Button>
      </Group>
    </Stack>
  );
}
