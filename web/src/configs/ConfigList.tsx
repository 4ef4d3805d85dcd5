import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense, useMemo } from "react";
import { useList } from "../api/queries";
import type { Environment } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { type Column, Grid } from "../ui/Grid";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { RelativeTime } from "../ui/RelativeTime";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { usePages } from "../ui/usePages";
import styles from "./configs.module.css";
import { type Branch, branches } from "./tree";
import { levelOf, overridesIn } from "./values";

const NewConfig = later(() => import("./ConfigForm").then(({ NewConfig }) => ({ default: NewConfig })));

/** most is the number of configs up to which the list is a tree. Longer lists have pages and a column for the parent. */
const most = 1000;

/** ConfigList is the screen of configs: their parents, and the number of overrides in each environment. */
export default function ConfigList() {
  const { q, new: adding } = useSearch({ from: "/frame/configs" });
  const setSearch = useSetSearch();
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Config</h1>
        <SearchBox label="Search configs" />
        <span className="spring" />
        <NewButton onClick={() => setSearch({ new: "1" })}>New config</NewButton>
      </header>
      {q ? <Flat q={q} /> : <Tree />}
      <Suspense>{adding && <NewConfig onClose={() => setSearch({ new: undefined })} />}</Suspense>
    </main>
  );
}

function Tree() {
  const setSearch = useSetSearch();
  const { data, error, isPending, refetch } = useList("config", { "page[size]": most, "meta[total]": true });
  const rows = useMemo(() => branches((data?.data ?? []).map((config) => levelOf(config))), [data]);
  if (isPending) return <Loading rows={14} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  if ((data.meta.pagination.total ?? 0) > most) return <Flat />;
  const isFresh = rows.length === 1 && rows[0]?.id === "common" && Object.keys(rows[0].config.items).length === 0;
  return (
    <Rows count={rows.length} at={(index) => rows[index]}>
      {isFresh && <NoConfigs onNew={() => setSearch({ new: "1" })} />}
    </Rows>
  );
}

function Flat({ q }: { q?: string }) {
  const configs = usePages("config", { "filter[search]": q });
  if (configs.isPending) return <Loading rows={14} />;
  if (configs.error && configs.total === 0) return <ErrorState error={configs.error} retry={() => configs.refetch()} />;
  if (configs.total === 0) return <EmptyState title="No config has this text in its id or name" />;
  const at = (index: number): Branch | undefined => {
    const config = configs.at(index);
    return config && { ...levelOf(config), depth: 0 };
  };
  return <Rows count={configs.total} at={at} onRange={configs.onRange} withParent />;
}

interface RowsProps {
  count: number;
  at: (index: number) => Branch | undefined;
  onRange?: (from: number, to: number) => void;
  withParent?: boolean;
  children?: ReactNode;
}

function Rows({ count, at, onRange, withParent, children }: RowsProps) {
  const environments = useColumns();
  const navigate = useNavigate();
  const columns = useMemo(() => columnsOf(environments, withParent), [environments, withParent]);
  return (
    <>
      <Grid
        label="Configs"
        columns={columns}
        count={count}
        at={at}
        keyOf={({ id }) => id}
        onRange={onRange}
        onOpen={({ id }) => navigate({ to: "/configs/$id", params: { id } })}
        card={(row) => <Card row={row} environments={environments} />}
        cardHeight={72}
      />
      {children}
    </>
  );
}

function columnsOf(environments: Environment[], withParent?: boolean): Column<Branch>[] {
  const parent: Column<Branch> = {
    key: "parent",
    header: "Inherits from",
    width: "minmax(110px, 1fr)",
    cell: ({ config }) => <span className="mono muted ellipsis">{config.parent ?? "none"}</span>,
  };
  return [
    { key: "name", header: "Config", width: "minmax(240px, 2fr)", cell: (row) => <Name row={row} /> },
    ...(withParent ? [parent] : []),
    {
      key: "items",
      header: "Own items",
      width: "minmax(80px, 110px)",
      cell: ({ config }) => <Count count={Object.keys(config.items).length} />,
    },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(120px, 1fr)",
      cell: ({ config }: Branch) => <Overrides count={overridesIn(config, environment.id)} />,
    })),
    { key: "updated", header: "Changed", width: "minmax(90px, 120px)", cell: ({ config }) => <RelativeTime at={config.updated_at} /> },
  ];
}

function Name({ row: { id, config, depth } }: { row: Branch }) {
  return (
    <span className={styles.name} style={{ paddingLeft: Math.max(0, depth - 1) * 18 }}>
      {depth > 0 && (
        <span className={styles.branch} aria-hidden="true">
          └
        </span>
      )}
      <Link to="/configs/$id" params={{ id }} tabIndex={-1} className="ellipsis">
        {config.name}
      </Link>
      {config.name !== id && <span className="mono muted ellipsis">{id}</span>}
      {depth > 0 && <span className="visually-hidden">inherits from {config.parent}</span>}
    </span>
  );
}

const Count = ({ count }: { count: number }) => <span className={count === 0 ? styles.none : undefined}>{count}</span>;

function Overrides({ count }: { count: number }) {
  if (count === 0) return <span className={styles.none}>no overrides</span>;
  return <span>{count === 1 ? "1 override" : `${count} overrides`}</span>;
}

function Card({ row, environments }: { row: Branch; environments: Environment[] }) {
  const items = Object.keys(row.config.items).length;
  const overrides = environments
    .map(({ id, name }) => ({ name, count: overridesIn(row.config, id) }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} in ${name}`);
  return (
    <>
      <Name row={row} />
      <div className="muted ellipsis" style={{ fontSize: 12, marginTop: 6 }}>
        {items === 1 ? "1 item" : `${items} items`} · {overrides.length > 0 ? `overrides: ${overrides.join(", ")}` : "no overrides"}
      </div>
    </>
  );
}

function NoConfigs({ onNew }: { onNew: () => void }) {
  const code = `signalbox configs create checkout timeout_ms=1500 currency=EUR --url ${window.location.origin}
signalbox configs set checkout timeout_ms=800 -e production

settings := live.Config(box, "checkout", Checkout{TimeoutMS: 1500})
settings.Get().TimeoutMS // 800 in production, and always current`;
  return (
    <EmptyState title="Nothing is configured yet" code={code} action={<NewButton onClick={onNew}>New config</NewButton>}>
      A config has typed items with defaults, and overrides for single environments. It inherits from another config, and finally from
      common, so that shared values are written once.
    </EmptyState>
  );
}
