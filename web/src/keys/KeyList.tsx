import { Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import type { Resource } from "../api/kinds";
import { useList } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { type Column, Grid } from "../ui/Grid";
import { NewButton } from "../ui/NewButton";
import { RelativeTime } from "../ui/RelativeTime";
import { RowButton } from "../ui/RowButton";
import { SearchBox } from "../ui/SearchBox";
import { ordered, type Values } from "../ui/sorting";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import { stateOf } from "./draft";
import { KeyPanel } from "./KeyPanel";
import { NewKey } from "./NewKey";

type Key = Resource<"api_key">;

/** KeyList shows the keys that programs use. */
export default function KeyList() {
  const { id, q = "", sort, new: making } = useSearch({ from: "/frame/keys" });
  const setSearch = useSetSearch();
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Keys</h1>
        <span className="spring" />
        <SearchBox label="Filter by name" placeholder="Name" />
        <NewButton needs="ADMIN" onClick={() => setSearch({ new: "1", id: undefined })}>
          New key
        </NewButton>
      </header>
      <List q={q} sort={sort} open={(key) => setSearch({ id: key.id, new: undefined })} />
      {making && <NewKey close={() => setSearch({ new: undefined })} />}
      {id && <KeyPanel key={id} id={id} close={() => setSearch({ id: undefined })} />}
    </main>
  );
}

const kinds = { evaluate: "evaluates flags", levels: "reads log levels" };

const kindOf = ({ attributes: { access, role } }: Key) => (access === "full" ? role.toLowerCase() : kinds[access]);

const values: Values<Key> = {
  name: ({ attributes }) => attributes.name,
  state: ({ attributes }) => stateOf(attributes),
  role: kindOf,
  used: ({ attributes }) => attributes.last_used_at,
  expires: ({ attributes }) => attributes.expires_at,
};

function List({ q, sort, open }: { q: string; sort?: string; open: (key: Key) => void }) {
  const setSearch = useSetSearch();
  const { data, error, refetch } = useList("api_key");
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const found = data.data.filter(({ attributes }) => attributes.name.toLowerCase().includes(q.toLowerCase()));
  const rows = ordered(found, sort, values);
  if (rows.length === 0 && q) return <EmptyState title={`No key has “${q}” in its name`} />;
  if (rows.length === 0)
    return (
      <EmptyState
        title="No keys yet"
        action={
          <NewButton needs="ADMIN" onClick={() => setSearch({ new: "1" })}>
            New key
          </NewButton>
        }
        code={`curl '${window.location.origin}/api/v1/flags' -H "Authorization: Bearer $SIGNALBOX_KEY"`}
      >
        Programs use a key. Create one, and send it with every request:
      </EmptyState>
    );
  return (
    <Grid
      label="Keys"
      columns={columnsFor(open)}
      count={rows.length}
      at={(index) => rows[index]}
      keyOf={(key) => key.id}
      onOpen={open}
      dimmed={(key) => stateOf(key.attributes) !== "active"}
      card={(key) => <Card apiKey={key} open={open} />}
      cardHeight={80}
    />
  );
}

function State({ apiKey }: { apiKey: Key }) {
  const state = stateOf(apiKey.attributes);
  return <Tag tone={state === "active" ? "good" : state === "expired" ? "warning" : "plain"}>{state}</Tag>;
}

/** scopeOf returns where a key may write or read, in words. */
function scopeOf({ attributes: { access, scopes } }: Key): string {
  const places = scopes.environments?.join(", ") ?? "all environments";
  if (access !== "evaluate") return places;
  return scopes.origins ? `${places} from ${scopes.origins.join(", ")}` : `${places} from any origin`;
}

function columnsFor(open: (key: Key) => void): Column<Key>[] {
  return [
    {
      key: "name",
      header: "Name",
      width: "minmax(180px, 1.4fr)",
      sort: "name",
      isUsualOrder: true,
      cell: (key) => <RowButton onClick={() => open(key)}>{key.attributes.name}</RowButton>,
    },
    { key: "state", header: "State", width: "100px", sort: "state", cell: (key) => <State apiKey={key} /> },
    { key: "kind", header: "Role", width: "140px", sort: "role", cell: kindOf },
    {
      key: "scope",
      header: "Where",
      width: "minmax(180px, 1.6fr)",
      cell: (key) => (
        <span className="ellipsis" title={scopeOf(key)}>
          {scopeOf(key)}
        </span>
      ),
    },
    {
      key: "used",
      header: "Last used",
      width: "120px",
      sort: "-used",
      cell: ({ attributes }) => <RelativeTime at={attributes.last_used_at} />,
    },
    {
      key: "expires",
      header: "Expires",
      width: "120px",
      sort: "expires",
      cell: ({ attributes }) => <RelativeTime at={attributes.expires_at} absent="never" />,
    },
  ];
}

function Card({ apiKey, open }: { apiKey: Key; open: (key: Key) => void }) {
  return (
    <RowButton isCard onClick={() => open(apiKey)}>
      <div className="ellipsis">
        <b>{apiKey.attributes.name}</b> <State apiKey={apiKey} />
      </div>
      <Text size="xs" className="muted ellipsis">
        {kindOf(apiKey)} · {scopeOf(apiKey)}
      </Text>
      <Text size="xs" className="muted">
        used <RelativeTime at={apiKey.attributes.last_used_at} />
        {apiKey.attributes.expires_at && (
          <>
            {" · expires "}
            <RelativeTime at={apiKey.attributes.expires_at} />
          </>
        )}
      </Text>
    </RowButton>
  );
}
