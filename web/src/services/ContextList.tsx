import { Code, Stack, Text } from "@mantine/core";
import { Link, useSearch } from "@tanstack/react-router";
import type { Resource } from "../api/kinds";
import { useList, useOne } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { DangerButton } from "../ui/DangerButton";
import { short } from "../ui/diff";
import { Filter } from "../ui/Filter";
import { FirstKey } from "../ui/FirstKey";
import type { Column } from "../ui/Grid";
import { PagedGrid } from "../ui/PagedGrid";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { RowButton } from "../ui/RowButton";
import { SearchBox } from "../ui/SearchBox";
import { SidePanel } from "../ui/SidePanel";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { usePages } from "../ui/usePages";
import { useWriter } from "../ui/WriteProvider";
import { Tabs } from "./Tabs";

type Context = Resource<"context">;

/** ContextList shows the contexts for which flags were evaluated. */
export default function ContextList() {
  const { id, q, type, sort } = useSearch({ from: "/frame/services/contexts" });
  const setSearch = useSetSearch();
  const { data: types } = useList("context_type");
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Contexts</h1>
        <Tabs />
        <span className="spring" />
        <Filter
          name="type"
          label="Type"
          any="Any type"
          choices={(types?.data ?? []).map((each) => ({ value: each.id, label: each.attributes.name }))}
        />
        <SearchBox label="Filter contexts" placeholder="Key or name" />
      </header>
      <List q={q} type={type} sort={sort} open={(context) => setSearch({ id: context })} />
      {id && <ContextPanel key={id} id={id} close={() => setSearch({ id: undefined })} />}
    </main>
  );
}

interface ListProps {
  q?: string;
  type?: string;
  sort?: string;
  open: (id: string) => void;
}

function List({ q, type, sort, open }: ListProps) {
  const pages = usePages("context", { "filter[search]": q, "filter[context_type]": type, sort });
  return (
    <PagedGrid
      label="Contexts"
      pages={pages}
      empty={q || type ? <EmptyState title="No context matches these filters" /> : <Nothing />}
      columns={columnsFor(open)}
      keyOf={(context) => context.id}
      onOpen={(context) => open(context.id)}
      card={(context) => <Card context={context} open={open} />}
      cardHeight={70}
    />
  );
}

function Nothing() {
  return (
    <EmptyState
      title="No contexts are known yet"
      action={<FirstKey />}
      code={`curl -X POST '${window.location.origin}/api/v1/contexts/bulk' \\
  -H "Authorization: Bearer $SIGNALBOX_KEY" \\
  -d '{"contexts":[{"type":"user","key":"alice","attributes":{"country":"DE"}}]}'`}
    >
      A flag is evaluated for a context: a user, a tenant, a device. Clients report the contexts that they use, and rules are easier to
      write with their attributes at hand:
    </EmptyState>
  );
}

function columnsFor(open: (id: string) => void): Column<Context>[] {
  return [
    {
      key: "key",
      header: "Context",
      width: "minmax(200px, 1.2fr)",
      sort: "key",
      cell: ({ id, attributes }) => (
        <RowButton onClick={() => open(id)}>
          <span className="muted">{attributes.context_type}</span> <span className="mono">{attributes.key}</span>
        </RowButton>
      ),
    },
    {
      key: "name",
      header: "Name",
      width: "minmax(140px, 1fr)",
      sort: "name",
      cell: ({ attributes }) => <span className="ellipsis">{attributes.name}</span>,
    },
    {
      key: "attributes",
      header: "Attributes",
      width: "minmax(240px, 2fr)",
      cell: ({ attributes }) => <span className="mono muted ellipsis">{short(attributes.attributes, 160)}</span>,
    },
    {
      key: "seen",
      header: "Changed",
      width: "110px",
      sort: "-updated_at",
      cell: ({ attributes }) => <RelativeTime at={attributes.updated_at} />,
    },
  ];
}

function Card({ context, open }: { context: Context; open: (id: string) => void }) {
  const { context_type, key, attributes } = context.attributes;
  return (
    <RowButton isCard onClick={() => open(context.id)}>
      <div className="ellipsis">
        <span className="muted">{context_type}</span> <span className="mono">{key}</span>
      </div>
      <div className="mono muted ellipsis">{short(attributes, 80)}</div>
    </RowButton>
  );
}

function ContextPanel({ id, close }: { id: string; close: () => void }) {
  const { data, error, refetch } = useOne("context", id);
  const writer = useWriter();
  const remove = async () => {
    const done = await writer.attempt({
      kind: "context",
      id,
      method: "DELETE",
      title: `Forget ${id}`,
      done: `Forgot ${id}.`,
      consequences: "Flags that name it keep their rules. It comes back when a client reports it again.",
      verb: "Forget",
      final: true,
    });
    if (done) close();
  };
  return (
    <SidePanel title={id} close={close}>
      {error && !data ? (
        <ErrorState error={error} retry={refetch} />
      ) : !data ? (
        <Loading />
      ) : (
        <Stack gap="lg">
          <Text size="sm">
            <Link to="/services/contexts/gets" search={{ of: id } as never}>
              What does it get?
            </Link>{" "}
            <span className="muted">Every flag in every environment, with the reason.</span>
          </Text>
          <section>
            <Text fw={600} size="sm" mb={4}>
              Attributes
            </Text>
            <Code block tabIndex={0}>
              {JSON.stringify(data.resource.attributes.attributes, null, 2)}
            </Code>
          </section>
          <FlagsThatName id={id} />
          <div>
            <RoleGate needs="MEMBER">
              {(disabled) => (
                <DangerButton disabled={disabled} onClick={remove}>
                  Forget…
                </DangerButton>
              )}
            </RoleGate>
          </div>
        </Stack>
      )}
    </SidePanel>
  );
}

function FlagsThatName({ id }: { id: string }) {
  const { data, error, refetch } = useList("flag", { "filter[references_context]": id, "page[size]": 100 });
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  return (
    <section>
      <Text fw={600} size="sm" mb={4}>
        Flags that name it
      </Text>
      {!data ? (
        <Loading rows={2} />
      ) : data.data.length === 0 ? (
        <Text size="sm" className="muted">
          No rule compares its key.
        </Text>
      ) : (
        <Stack gap={4}>
          {data.data.map((flag) => (
            <Text size="sm" key={flag.id}>
              <Link to={`/flags/${encodeURIComponent(flag.id)}` as "/flags"} className="mono">
                {flag.id}
              </Link>{" "}
              <span className="muted">{flag.attributes.name}</span>
            </Text>
          ))}
        </Stack>
      )}
    </section>
  );
}
