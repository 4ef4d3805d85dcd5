import { Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Resource } from "../api/kinds";
import { useSetSearch } from "../app/focus";
import { FirstKey } from "../ui/FirstKey";
import type { Column } from "../ui/Grid";
import { PagedGrid } from "../ui/PagedGrid";
import { RelativeTime } from "../ui/RelativeTime";
import { RowButton } from "../ui/RowButton";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState } from "../ui/states";
import { Tag } from "../ui/Tag";
import { usePages } from "../ui/usePages";
import { byService, clientsOf, environmentsOf } from "./connected";
import { ServicePanel } from "./ServicePanel";
import { Tabs } from "./Tabs";
import { useConnections, useLastReport } from "./useReports";

type Service = Resource<"service">;
type Connections = Map<string, Resource<"connection">[]>;

/** ServiceList shows the services that report to the server, and which of them are connected. */
export default function ServiceList() {
  const { id, q, sort } = useSearch({ from: "/frame/services" });
  const setSearch = useSetSearch();
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Services</h1>
        <Tabs />
        <span className="spring" />
        <SearchBox label="Filter services" placeholder="Service" />
      </header>
      <List q={q} sort={sort} open={(service) => setSearch({ id: service })} />
      {id && <ServicePanel key={id} id={id} close={() => setSearch({ id: undefined })} />}
    </main>
  );
}

function List({ q, sort, open }: { q?: string; sort?: string; open: (id: string) => void }) {
  const pages = usePages("service", { "filter[search]": q, sort });
  const { data } = useConnections();
  const connected = useMemo(() => byService(data ?? []), [data]);
  return (
    <PagedGrid
      label="Services"
      pages={pages}
      empty={q ? <EmptyState title={`No service has “${q}” in its name`} /> : <Nothing />}
      columns={columnsFor(connected, open)}
      keyOf={(service) => service.id}
      onOpen={(service) => open(service.id)}
      card={(service) => <Card service={service} connected={connected} open={open} />}
      cardHeight={80}
    />
  );
}

function Nothing() {
  return (
    <EmptyState
      title="No service has reported yet"
      action={<FirstKey />}
      code={`curl -X POST '${window.location.origin}/api/v1/contexts/bulk' \\
  -H "Authorization: Bearer $SIGNALBOX_KEY" \\
  -d '{"contexts":[{"type":"service","key":"checkout"},{"type":"environment","key":"production"}]}'`}
    >
      A service appears here when its client reports loggers or flags, or connects for live changes. One request is enough:
    </EmptyState>
  );
}

function Connected({ connections }: { connections?: Resource<"connection">[] }) {
  if (!connections?.length) return <Tag>not connected</Tag>;
  return (
    <span className="ellipsis" title={environmentsOf(connections)}>
      <Tag tone="good">{connections.length} connected</Tag> <span className="muted">{environmentsOf(connections)}</span>
    </span>
  );
}

function LastReport({ service }: { service: string }) {
  const { last, isPending } = useLastReport(service);
  if (isPending) return <span className="muted">…</span>;
  return (
    <span className="ellipsis">
      <RelativeTime at={last?.last_seen} /> {last && <span className="muted">from {last.environment}</span>}
    </span>
  );
}

function columnsFor(connected: Connections, open: (id: string) => void): Column<Service>[] {
  return [
    {
      key: "service",
      header: "Service",
      width: "minmax(200px, 1.4fr)",
      sort: "name",
      isUsualOrder: true,
      cell: ({ id, attributes }) => (
        <RowButton onClick={() => open(id)}>
          <span className="mono">{id}</span> {attributes.name !== id && <span className="muted">{attributes.name}</span>}
        </RowButton>
      ),
    },
    {
      key: "connected",
      header: "Connected now",
      width: "minmax(220px, 1.4fr)",
      cell: ({ id }) => <Connected connections={connected.get(id)} />,
    },
    {
      key: "client",
      header: "Client",
      width: "minmax(160px, 1fr)",
      cell: ({ id }) => <span className="ellipsis">{clientsOf(connected.get(id) ?? []) || "–"}</span>,
    },
    { key: "last", header: "Last report", width: "minmax(180px, 1fr)", cell: ({ id }) => <LastReport service={id} /> },
  ];
}

function Card({ service, connected, open }: { service: Service; connected: Connections; open: (id: string) => void }) {
  return (
    <RowButton isCard onClick={() => open(service.id)}>
      <div className="mono ellipsis">{service.id}</div>
      <Connected connections={connected.get(service.id)} />
      <Text size="xs" className="muted" component="div">
        <LastReport service={service.id} />
      </Text>
    </RowButton>
  );
}
