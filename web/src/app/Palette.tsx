import { TextInput, useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useState } from "react";
import type { Kind } from "../api/kinds";
import { listOf } from "../api/queries";
import { useRunActions } from "../jobs/useRunActions";
import { Dialog } from "../ui/Dialog";
import { useRefusal } from "../ui/RoleGate";
import { actionsFor, commandOf, type Doing, type Found, type Hit, hitOf, itemHits } from "./hits";
import styles from "./Palette.module.css";
import { places } from "./places";
import { signOut } from "./signOut";

const kinds = [
  "flag",
  "logger",
  "log_group",
  "config",
  "job",
  "environment",
  "service",
  "context",
  "user",
  "api_key",
  "webhook",
] as const satisfies Kind[];

/** Palette finds resources by id or name, screens, and actions. early returns the text that was typed before the field had the focus. */
export default function Palette({ close, early }: { close: () => void; early: () => string }) {
  const router = useRouter();
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const [search] = useDebouncedValue(text.trim(), 80);
  const { hits, settled } = useHits(text.trim(), search);
  const [entered, setEntered] = useState(false);
  const chosen = Math.min(active, hits.length - 1);

  const { runNow } = useRunActions();
  const act = useDoing();
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    if (hit.run) void runNow(hit.run);
    else if (hit.does) act(hit.does);
    else if (hit.href?.startsWith("/docs")) window.location.assign(hit.href);
    else if (hit.href) router.history.push(hit.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setActive((chosen + step + hits.length) % Math.max(1, hits.length));
    }
    if (event.key === "Enter") setEntered(true);
  };
  // Enter waits for the hits of the typed text, because the hits on the screen may be those of an earlier text.
  useEffect(() => {
    if (!entered || !settled) return;
    setEntered(false);
    open(hits[chosen]);
  });

  return (
    <Dialog
      onClose={close}
      title="Search"
      classNames={{ header: "visually-hidden" }}
      withCloseButton={false}
      padding={0}
      yOffset="12vh"
      centered={false}
      size="lg"
    >
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Search everything"
        aria-expanded="true"
        aria-controls="palette-hits"
        aria-activedescendant={hits[chosen] && `hit-${chosen}`}
        placeholder="Find anything, or: new flag, run nightly, set level of shop"
        size="md"
        variant="unstyled"
        className={styles.input}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        onFocus={() => {
          const typed = early();
          if (typed) setText((text) => typed + text);
        }}
      />
      <div role="listbox" id="palette-hits" aria-label="Results" className={styles.hits}>
        {hits.map((hit, index) => (
          <div
            role="option"
            tabIndex={-1}
            id={`hit-${index}`}
            key={hit.id}
            aria-selected={index === chosen}
            className={styles.hit}
            onMouseMove={() => setActive(index)}
            onClick={() => open(hit)}
            onKeyDown={onKeyDown}
          >
            <span className="ellipsis">{hit.label}</span>
            <span className={styles.hint}>{hit.hint}</span>
          </div>
        ))}
        {hits.length === 0 && <p className={styles.none}>Nothing matches “{text}”.</p>}
      </div>
    </Dialog>
  );
}

/** documents are pages of their own, outside of the console. */
const documents = [
  { to: "/docs", label: "The book" },
  { to: "/docs/api", label: "Interface reference" },
];

function useDoing(): (doing: Doing) => void {
  const { setColorScheme } = useMantineColorScheme();
  return (doing) => {
    if (doing === "sign-out") void signOut();
    else setColorScheme(doing);
  };
}

// useFound returns the resources that the typed text names. A verb alone finds the first resources of its kind.
function useFound(typed: string): { resources: Found[]; items: Hit[]; isFetching: boolean } {
  const { verb, name } = commandOf(typed);
  const mayManage = !useRefusal("ADMIN");
  const isAsked = (kind: Kind) => (verb?.kind ? kind === verb.kind : name !== "") && (kind !== "webhook" || mayManage);
  const found = useQueries({
    queries: kinds.map((kind) => ({
      ...listOf(kind, { "filter[search]": name, "page[size]": 6 }),
      enabled: isAsked(kind),
      placeholderData: keepPreviousData,
    })),
  });
  const hasItems = verb?.kind === undefined && name.length > 1;
  const configs = useQuery({ ...listOf("config", { "page[size]": 200 }), enabled: hasItems });
  const resources = found.flatMap(({ data }, index): Found[] => {
    const kind = kinds[index] as Kind;
    if (!isAsked(kind)) return [];
    return (data?.data ?? []).map(({ id, attributes }) => ({ kind, id, name: "name" in attributes ? attributes.name : id }));
  });
  return {
    resources,
    items: hasItems ? itemHits(configs.data?.data ?? [], name) : [],
    isFetching: found.some(({ isFetching }) => isFetching),
  };
}

function screensFor(text: string): Hit[] {
  const { verb, name } = commandOf(text);
  const isNamed = (label: string, wanted: string) => label.toLowerCase().includes(wanted.toLowerCase());
  return [...places.map(({ to, label }) => ({ to, label })), ...documents]
    .filter(({ label }) => isNamed(label, text) || (verb && !verb.kind && isNamed(label, name)))
    .map(({ to, label }) => ({ id: to, label, hint: "screen", href: to }));
}

// useHits returns the matching screens and actions at once, and the matching resources when the server has answered.
function useHits(text: string, typed: string): { hits: Hit[]; settled: boolean } {
  const { resources, items, isFetching } = useFound(typed);
  const mayRun = !useRefusal("MEMBER");
  const screens = screensFor(text);
  if (text === "") return { hits: screens, settled: true };
  const { verb } = commandOf(text);
  const actions = actionsFor(text, resources).filter(({ run }) => !run || mayRun);
  const settled = text === typed && !isFetching;
  if (verb && !verb.kind) return { hits: [...screens, ...resources.map(hitOf), ...items], settled };
  const others = [...resources.map(hitOf), ...items, ...screens];
  return { hits: verb || resources.length === 0 ? [...actions, ...others] : [...others, ...actions], settled };
}
