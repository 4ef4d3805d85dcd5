import { Button, Group, Text, TextInput } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type Resource, wordFor } from "../api/kinds";
import { useCursorList } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { gistOf, nameOf } from "../ui/changes";
import { short, written } from "../ui/diff";
import { Filter } from "../ui/Filter";
import { type Column, Grid } from "../ui/Grid";
import { RelativeTime } from "../ui/RelativeTime";
import { RowButton } from "../ui/RowButton";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag, type Tone } from "../ui/Tag";
import { ChangePanel } from "./ChangePanel";
import { addressOf, type Filters, fieldOf, hoursAgo, kinds, passes, queryOf, reasonFor } from "./filters";

type Change = Resource<"change">;

/** HistoryList shows every change, newest first; a change opens beside it. */
export default function HistoryList() {
  const { change, ...filters } = useSearch({ from: "/frame/history" });
  const setSearch = useSetSearch();
  return (
    <main className="screen">
      <FilterBar filters={filters} />
      <Changes filters={filters} open={(seq) => setSearch({ change: seq })} />
      {change && <ChangePanel key={change} seq={change} close={() => setSearch({ change: undefined })} />}
    </main>
  );
}

function FilterBar({ filters }: { filters: Filters }) {
  const setSearch = useSetSearch();
  const actors = useActors(filters.actor);
  const filtered = Object.values(filters).some(Boolean);
  const choices = kinds.map((kind) => ({ value: kind, label: wordFor(kind) }));
  return (
    <header className="screen-head">
      <h1>History</h1>
      <span className="spring" />
      <Filter name="kind" label="Kind" any="Any kind" choices={choices} clears={["id"]} />
      {filters.kind && <IdFilter key={`${filters.kind}:${filters.id}`} kind={filters.kind} id={filters.id} />}
      <Filter name="actor" label="By whom" any="By anybody" choices={actors} />
      {!filters.kind && (
        <Filter name="sessions" label="Sign-ins" any="Without sign-ins" choices={[{ value: "1", label: "With sign-ins" }]} />
      )}
      <TimeFilter from={filters.from} to={filters.to} />
      {filtered && (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() =>
            setSearch({ kind: undefined, id: undefined, actor: undefined, from: undefined, to: undefined, sessions: undefined })
          }
        >
          Clear
        </Button>
      )}
    </header>
  );
}

const spans = [
  { value: "1", label: "Last hour" },
  { value: "24", label: "Last 24 hours" },
  { value: "168", label: "Last 7 days" },
];

// TimeFilter offers common time spans, and fields for an exact start and end.
function TimeFilter({ from, to }: { from?: string; to?: string }) {
  const setSearch = useSetSearch();
  if (!from && !to)
    return (
      <select
        className="choice"
        aria-label="When"
        value=""
        onChange={(event) => setSearch({ from: hoursAgo(Number(event.currentTarget.value)) })}
      >
        <option value="">At any time</option>
        {spans.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    );
  return (
    <Group gap={4}>
      <TextInput
        size="xs"
        type="datetime-local"
        aria-label="From"
        value={fieldOf(from)}
        onChange={(event) => setSearch({ from: addressOf(event.currentTarget.value) })}
      />
      <span className="muted">–</span>
      <TextInput
        size="xs"
        type="datetime-local"
        aria-label="Until"
        value={fieldOf(to)}
        onChange={(event) => setSearch({ to: addressOf(event.currentTarget.value) })}
      />
    </Group>
  );
}

// IdFilter applies the typed id on Enter, because the server finds a resource only by its exact id.
function IdFilter({ kind, id }: { kind: string; id?: string }) {
  const setSearch = useSetSearch();
  const [text, setText] = useState(id ?? "");
  const apply = () => text !== (id ?? "") && setSearch({ id: text || undefined });
  return (
    <TextInput
      size="xs"
      data-search
      aria-label="Id"
      placeholder={`Id of the ${wordFor(kind)}, then Enter`}
      w={220}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
    />
  );
}

// useActors returns the choices of the filter: the actors of recent changes, and the chosen actor.
function useActors(chosen?: string): { value: string; label: string }[] {
  const recent = useCursorList("change", queryOf({}));
  const found = new Map<string, string>();
  for (const { attributes } of recent.data?.pages.flatMap((page) => page.data) ?? [])
    if (!found.has(attributes.actor.id)) found.set(attributes.actor.id, attributes.actor.name);
  if (chosen && !found.has(chosen)) found.set(chosen, chosen);
  return [...found].map(([value, label]) => ({ value, label }));
}

/** atLeast is how many changes are read at first: filters may leave out most of a page. */
const atLeast = 40;

function Changes({ filters, open }: { filters: Filters; open: (seq: string) => void }) {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useCursorList("change", queryOf(filters));
  const { kind, sessions } = filters;
  const all = useMemo(
    () => data?.pages.flatMap((page) => page.data).filter((change) => passes(change, { kind, sessions })) ?? [],
    [data, kind, sessions],
  );
  const isShort = all.length < atLeast && hasNextPage;
  useEffect(() => {
    if (isShort && !isFetchingNextPage) void fetchNextPage();
  }, [isShort, isFetchingNextPage, fetchNextPage]);
  const at = useCallback((index: number) => all[index], [all]);
  const onRange = useCallback(
    (_: number, to: number) => {
      if (to >= all.length - 20 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    [all.length, hasNextPage, isFetchingNextPage, fetchNextPage],
  );
  if (isPending || (isShort && all.length === 0 && !error)) return <Loading />;
  if (error && all.length === 0) return <ErrorState error={error} retry={refetch} />;
  if (all.length === 0) return <Nothing filters={filters} />;
  return (
    <Grid
      label="Changes"
      columns={columnsFor(open)}
      count={all.length}
      at={at}
      keyOf={(change) => change.id}
      onOpen={(change) => open(change.id)}
      onRange={onRange}
      card={(change) => <Card change={change} open={open} />}
      cardHeight={80}
    />
  );
}

function Nothing({ filters }: { filters: Filters }) {
  if (Object.values(filters).some(Boolean)) return <EmptyState title="No change matches these filters">{reasonFor(filters)}</EmptyState>;
  return (
    <EmptyState
      title="Nothing was changed yet"
      code={`curl '${window.location.origin}/api/v1/changes' -H "Authorization: Bearer $SIGNALBOX_KEY"`}
    >
      Every change by people, scripts and services is listed here with its diff, and most changes can be reverted. Scripts read the same
      list:
    </EmptyState>
  );
}

const tones: Record<string, Tone> = {
  created: "good",
  deleted: "bad",
  revoked: "bad",
  expired: "warning",
  failing: "bad",
  late: "warning",
  recovered: "good",
};

function Action({ action }: { action: string }) {
  return <Tag tone={tones[action]}>{action.replace("_", " ")}</Tag>;
}

/** gist returns a change in one line. */
function gist({ attributes: { before, after, summary, private: isPrivate, documents_removed: isTrimmed } }: Change): string {
  if (isPrivate) return "personal settings of another user";
  return gistOf(summary) || (isTrimmed ? "documents removed" : short(written(after ?? before), 160));
}

function columnsFor(open: (seq: string) => void): Column<Change>[] {
  return [
    {
      key: "what",
      header: "What",
      width: "minmax(240px, 1.4fr)",
      cell: (change) => (
        <RowButton onClick={() => open(change.id)}>
          <span className="muted">{wordFor(change.attributes.kind)}</span> <span className="mono">{nameOf(change.attributes)}</span>
        </RowButton>
      ),
    },
    { key: "action", header: "Action", width: "130px", cell: ({ attributes }) => <Action action={attributes.action} /> },
    {
      key: "gist",
      header: "Change",
      width: "minmax(260px, 3fr)",
      cell: (change) => (
        <span className="ellipsis muted" title={gist(change)}>
          {gist(change)}
        </span>
      ),
    },
    {
      key: "who",
      header: "By",
      width: "minmax(120px, 170px)",
      cell: ({ attributes }) => <span className="ellipsis">{attributes.actor.name}</span>,
    },
    { key: "when", header: "When", width: "100px", cell: ({ attributes }) => <RelativeTime at={attributes.created_at} /> },
  ];
}

function Card({ change, open }: { change: Change; open: (seq: string) => void }) {
  const { kind, action, actor, created_at } = change.attributes;
  return (
    <RowButton isCard onClick={() => open(change.id)}>
      <Group gap="xs" wrap="nowrap">
        <span className="ellipsis" style={{ flex: 1 }}>
          <span className="muted">{wordFor(kind)}</span> <span className="mono">{nameOf(change.attributes)}</span>
        </span>
        <Action action={action} />
      </Group>
      <div className="muted ellipsis">{gist(change)}</div>
      <Text size="xs" className="muted">
        {actor.name} · <RelativeTime at={created_at} />
      </Text>
    </RowButton>
  );
}
