import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import type { KeyboardEvent } from "react";
import { type Level, pathOf } from "../api/kinds";
import type { Environment } from "../api/session";
import { CopyAs } from "../ui/CopyAs";
import { type Drafting, useDraft } from "../ui/draft";
import { LevelPill, levels } from "../ui/LevelPill";
import { NoteField } from "../ui/NoteField";
import { useRefusal } from "../ui/RoleGate";
import { useWriter } from "../ui/WriteProvider";
import styles from "./LevelForm.module.css";
import { base, lengthOf, secondsOf, withLevel } from "./levels";

const choices = ["15 min", "30 min", "1 h", "8 h", "Another time", "Until I change it"];
const [another, permanent] = [4, 5];

export interface LevelFormProps {
  kind: "logger" | "log_group";
  id: string;
  /** environment is undefined for the level of all environments. */
  environment?: Environment;
  level?: Level;
  /** isSet is whether there is a level to reset. */
  isSet: boolean;
  /** onClose is called before the write, because the form would cover the confirmation. */
  onClose: () => void;
  onWritten?: (id: string) => void;
}

interface Choice {
  chosen: Level | null;
  /** length is the index of a choice, and typed another time. */
  length: number;
  typed: string;
  note: string;
}

/** useLevelDraft holds the content of the form for one level. */
export function useLevelDraft({ kind, id, environment, level }: Omit<LevelFormProps, "onClose" | "onWritten">): Drafting<Choice> {
  const length = environment?.id === "production" ? 0 : permanent;
  const opened = { chosen: level ?? null, length, typed: "", note: "" };
  return useDraft(`level:${kind}:${id}/${environment?.id ?? base}`, level ?? "", opened);
}

/** LevelForm sets a temporary or a permanent level. */
export function LevelForm({
  kind,
  id,
  environment,
  level,
  isSet,
  draft,
  onClose,
  onWritten,
}: LevelFormProps & { draft: Drafting<Choice> }) {
  const writer = useWriter();
  const key = environment?.id ?? base;
  const where = environment ? `in ${environment.name}` : "in all environments";
  const { chosen, length, typed, note } = draft.value;
  const refusal = useRefusal("MEMBER", environment?.id);
  const frozen = environment && !environment.managed ? `${environment.name} is not managed: its values are frozen.` : undefined;
  const seconds = length === permanent ? undefined : secondsOf(length === another ? typed : (choices[length] as string));
  const isUnclear = length !== permanent && seconds === undefined;

  const write = async (to: Level | null) => {
    onClose();
    const forHowLong = seconds ? ` for ${lengthOf(seconds)}` : "";
    const written = await writer.attempt({
      kind,
      id,
      title: to ? `Set ${id} to ${to} ${where}${forHowLong}` : `Reset ${id} ${where}`,
      done: to ? `${id} is ${to} ${where}${forHowLong}.` : `${id} inherits its level again ${where}.`,
      environments: environment ? [environment.id] : ["production"],
      note: note.trim() || undefined,
      change: (current) => withLevel(current, key, { level: to, seconds: to ? seconds : undefined }),
    });
    if (!written) return;
    draft.discard();
    onWritten?.(id);
  };
  const command = `signalbox ${kind === "logger" ? "loggers" : "groups"} set ${id} ${chosen ?? "LEVEL"}${environment ? ` -e ${environment.id}` : ""}${seconds ? ` --for ${seconds / 60}m` : ""}`;

  return (
    <Stack
      gap="sm"
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen && !isUnclear) void write(chosen);
      }}
    >
      <Text size="sm" fw={600} className="ellipsis">
        {id} <span className="muted">{where}</span>
      </Text>
      <Choices
        label="Level"
        count={levels.length}
        at={chosen ? levels.indexOf(chosen) : -1}
        onChange={(index) => draft.change({ chosen: levels[index] })}
      >
        {(index) => <LevelPill level={levels[index] as Level} faint={levels[index] !== chosen} />}
      </Choices>
      <Choices label="For how long" count={choices.length} at={length} onChange={(length) => draft.change({ length })} outlined>
        {(index) => choices[index]}
      </Choices>
      {length === another && (
        <TextInput
          size="xs"
          label="How long"
          placeholder="45 min, 2 h 30 min"
          value={typed}
          onChange={(event) => draft.change({ typed: event.currentTarget.value })}
          error={typed.trim() !== "" && isUnclear ? "must be a time such as 45 min, 2 h or 1 d, up to 30 days" : undefined}
        />
      )}
      <NoteField note={note} setNote={(note) => draft.change({ note })} />
      {draft.isOutdated && (
        <Text size="xs" role="status">
          Somebody {level ? `set this to ${level}` : "reset this"} while you were typing.
        </Text>
      )}
      {(frozen ?? refusal) && (
        <Text size="xs" className="muted" role="note">
          {frozen ?? refusal}
        </Text>
      )}
      <Group justify="space-between" gap="xs">
        <Group gap={4}>
          {isSet && (
            <Button size="compact-sm" variant="default" disabled={Boolean(frozen ?? refusal)} onClick={() => write(null)}>
              Reset
            </Button>
          )}
          <CopyAs
            method="PUT"
            path={pathOf(kind, id)}
            body={{ data: { type: kind, attributes: withLevel(undefined, key, { level: chosen, seconds }) } }}
            cli={command}
          />
        </Group>
        <Button type="submit" size="compact-sm" disabled={!chosen || isUnclear || Boolean(frozen ?? refusal)}>
          Apply
        </Button>
      </Group>
    </Stack>
  );
}

interface ChoicesProps {
  label: string;
  count: number;
  at: number;
  onChange: (index: number) => void;
  outlined?: boolean;
  children: (index: number) => React.ReactNode;
}

/** Choices are radio buttons in a strip: one stop of the Tab key, and arrows to choose. */
function Choices({ label, count, at, onChange, outlined, children }: ChoicesProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = at < 0 ? 0 : (at + step + count) % count;
    onChange(next);
    event.currentTarget.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div role="radiogroup" aria-label={label} className={styles.choices} onKeyDown={onKeyDown} data-outlined={outlined || undefined}>
      {Array.from({ length: count }, (_, index) => (
        <button
          // biome-ignore lint/suspicious/noArrayIndexKey: the choices never change
          key={index}
          type="button"
          role="radio"
          aria-checked={index === at}
          tabIndex={index === Math.max(0, at) ? 0 : -1}
          data-autofocus={(!outlined && index === Math.max(0, at)) || undefined}
          className={styles.choice}
          onClick={() => onChange(index)}
        >
          {children(index)}
        </button>
      ))}
    </div>
  );
}
