import { Text } from "@mantine/core";
import { Link, useSearch } from "@tanstack/react-router";
import type { Resource } from "../api/kinds";
import { useList } from "../api/queries";
import { refusalFor, useMe } from "../api/session";
import { useSetSearch } from "../app/focus";
import { type Column, Grid } from "../ui/Grid";
import { NewButton } from "../ui/NewButton";
import { RelativeTime } from "../ui/RelativeTime";
import { RowButton } from "../ui/RowButton";
import { SearchBox } from "../ui/SearchBox";
import { ordered, type Values } from "../ui/sorting";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import { Invite } from "./Invite";
import { PersonPanel } from "./PersonPanel";

/** Row is a user, or an open invitation. */
export type Row = Resource<"user"> | Resource<"invitation">;

/** People lists users and open invitations. */
export default function People() {
  const { id, new: inviting } = useSearch({ from: "/frame/people" });
  const setSearch = useSetSearch();
  const { session } = useMe();
  const refusal = refusalFor(session.attributes, "ADMIN");
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>People</h1>
        <span className="spring" />
        <SearchBox label="Filter by name or e-mail" placeholder="Name or e-mail" />
        <NewButton needs="ADMIN" onClick={() => setSearch({ new: "1", id: undefined })}>
          Invite
        </NewButton>
      </header>
      {refusal ? (
        <EmptyState title="Only admins see who has access">
          {refusal} Your own password and sessions are in <Link to="/settings">Settings</Link>.
        </EmptyState>
      ) : (
        <List open={(row) => setSearch({ id: row.id, new: undefined })} />
      )}
      {inviting && <Invite close={() => setSearch({ new: undefined })} />}
      {id && <PersonPanel key={id} id={id} close={() => setSearch({ id: undefined })} />}
    </main>
  );
}

/** fits reports whether a row has a text in its name or address. */
const fits = (row: Row, text: string) =>
  [row.type === "user" ? row.attributes.name : "", row.attributes.email].some((each) => each.toLowerCase().includes(text.toLowerCase()));

const ranks = ["OWNER", "ADMIN", "MEMBER", "VIEWER"];

const values: Values<Row> = {
  name: (row) => nameOf(row),
  email: ({ attributes }) => attributes.email || undefined,
  role: ({ attributes }) => ranks.indexOf(attributes.role),
  since: ({ attributes }) => attributes.created_at,
};

function List({ open }: { open: (row: Row) => void }) {
  const { q = "", sort } = useSearch({ from: "/frame/people" });
  const users = useList("user");
  const invitations = useList("invitation");
  const error = users.error ?? invitations.error;
  if (error && !users.data) return <ErrorState error={error} retry={() => Promise.all([users.refetch(), invitations.refetch()])} />;
  if (!users.data || !invitations.data) return <Loading />;
  const all: Row[] = [...users.data.data, ...invitations.data.data];
  const rows = ordered(
    all.filter((row) => fits(row, q)),
    sort,
    values,
  );
  if (rows.length === 0) return <EmptyState title={`No name or e-mail has “${q}”`} />;
  return (
    <Grid
      label="People"
      columns={columnsFor(open)}
      count={rows.length}
      at={(index) => rows[index]}
      keyOf={(row) => row.id}
      onOpen={open}
      dimmed={(row) => row.type === "invitation"}
      card={(row) => <Card row={row} open={open} />}
      cardHeight={78}
    />
  );
}

const nameOf = (row: Row) => (row.type === "user" ? row.attributes.name : row.attributes.email);

function State({ row }: { row: Row }) {
  if (row.type === "invitation")
    return (
      <span>
        <Tag tone="warning">invited</Tag> link ends <RelativeTime at={row.attributes.expires_at} />
      </span>
    );
  return row.attributes.can_sign_in ? <Tag tone="good">can sign in</Tag> : <Tag>never signed in</Tag>;
}

function columnsFor(open: (row: Row) => void): Column<Row>[] {
  return [
    {
      key: "name",
      header: "Name",
      width: "minmax(180px, 1.2fr)",
      sort: "name",
      cell: (row) => <RowButton onClick={() => open(row)}>{nameOf(row)}</RowButton>,
    },
    {
      key: "email",
      header: "E-mail",
      width: "minmax(200px, 1.5fr)",
      sort: "email",
      cell: (row) => <span className="ellipsis">{row.attributes.email || "–"}</span>,
    },
    { key: "role", header: "Role", width: "110px", sort: "role", cell: (row) => row.attributes.role.toLowerCase() },
    { key: "state", header: "State", width: "minmax(200px, 1fr)", cell: (row) => <State row={row} /> },
    { key: "since", header: "Since", width: "110px", sort: "-since", cell: (row) => <RelativeTime at={row.attributes.created_at} /> },
  ];
}

function Card({ row, open }: { row: Row; open: (row: Row) => void }) {
  return (
    <RowButton isCard onClick={() => open(row)}>
      <div className="ellipsis">
        <b>{nameOf(row)}</b> <span className="muted">{row.attributes.role.toLowerCase()}</span>
      </div>
      <Text size="xs" className="muted ellipsis">
        {row.attributes.email || "no e-mail"}
      </Text>
      <Text size="xs" component="div">
        <State row={row} />
      </Text>
    </RowButton>
  );
}
