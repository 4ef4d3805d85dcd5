import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense, useMemo } from "react";
import { useList } from "../api/queries";
import type { Environment } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { Columns } from "../ui/Columns";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { type Column, Grid } from "../ui/Grid";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { RelativeTime } from "../ui/RelativeTime";
import { SearchBox } from "../ui/SearchBox";
import { fieldOf, ordered, type Values } from "../ui/sorting";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { useChosen } from "../ui/useChosen";
import { usePages } from "../ui/usePages";
import { Views } from "../ui/Views";
import styles from "./configs.module.css";
import { type Branch, branches } from "./tree";
import { type Level, levelOf, overridesIn } from "./values";

const NewConfig = later(() => import("./ConfigForm").then(({ NewConfig }) => ({ default: NewConfig })));

/** most is the number of configs up to which the list is a tree. Longer lists have pages and a column for the parent. */
const most = 1000;

/** Form is how the list is shown: as a tree, as a sorted list, or in pages, which only the server can sort. */
type Form = "tree" | "list" | "pages";

/** ConfigList is the screen of configs: their parents, and the number of overrides in each environment. */
export default function ConfigList() {
  const { q, new: adding } = useSearch({ from: "/frame/configs" });
  const setSearch = useSetSearch();
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Config</h1>
        <SearchBox label="Search configs" />
        <Views />
        <Columns of={optional} />
        <span className="spring" />
        <NewButton onClick={() => setSearch({ new: "1" })}>New config</NewButton>
      </header>
      {q ? <Pages q={q} /> : <Whole />}
      <Suspense>{adding && <NewConfig onClose={() => setSearch({ new: undefined })} />}</Suspense>
    </main>
  );
}

/** Whole shows all configs: as a tree, or in the order of a column. */
function Whole() {
  const { sort } = useSearch({ from: "/frame/configs" });
  const setSearch = useSetSearch();
  const { data, error, isPending, refetch } = useList("config", { "page[size]": most, "meta[total]": true });
  const rows = useMemo(() => {
    const configs = (data?.data ?? []).map((config) => levelOf(config));
    return sort ? ordered(configs, sort, valuesIn(sort)).map((level) => ({ ...level, depth: 0 })) : branches(configs);
  }, [data, sort]);
  if (isPending) return <Loading rows={14} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  if ((data.meta.pagination.total ?? 0) > most) return <Pages />;
  const isFresh = rows.length === 1 && rows[0]?.id === "common" && Object.keys(rows[0].config.items).length === 0;
  return (
    <Rows count={rows.length} at={(index) => rows[index]} form={sort ? "list" : "tree"}>
      {isFresh && <NoConfigs onNew={() => setSearch({ new: "1" })} />}
    </Rows>
  );
}

/** serverOrders are the fields by which the server orders configs. */
const serverOrders = ["key", "updated_at", "created_at"];

function Pages({ q }: { q?: string }) {
  const { sort } = useSearch({ from: "/frame/configs" });
  const order = sort && serverOrders.includes(fieldOf(sort)) ? sort : undefined;
  const configs = usePages("config", { "filter[search]": q, sort: order });
  if (configs.isPending) return <Loading rows={14} />;
  if (configs.error && configs.total === 0) return <ErrorState error={configs.error} retry={() => configs.refetch()} />;
  if (configs.total === 0) return <EmptyState title="No config has this text in its id or name" />;
  const at = (index: number): Branch | undefined => {
    const config = configs.at(index);
    return config && { ...levelOf(config), depth: 0 };
  };
  return <Rows count={configs.total} at={at} onRange={configs.onRange} form="pages" />;
}

interface RowsProps {
  count: number;
  at: (index: number) => Branch | undefined;
  onRange?: (from: number, to: number) => void;
  form: Form;
  children?: ReactNode;
}

function Rows({ count, at, onRange, form, children }: RowsProps) {
  const environments = useColumns();
  const navigate = useNavigate();
  const columns = useChosen(useMemo(() => columnsOf(environments, form), [environments, form]));
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

const itemsOf = ({ config }: Level) => Object.keys(config.items).length;

/** inEnvironment begins the orders by the number of overrides in an environment. */
const inEnvironment = "in.";

/** valuesIn returns the values by which configs are sorted. */
const valuesIn = (sort: string): Values<Level> => {
  const environment = fieldOf(sort).slice(inEnvironment.length);
  return {
    key: ({ id }) => id,
    items: itemsOf,
    updated_at: ({ config }) => config.updated_at,
    created_at: ({ config }) => config.created_at,
    [inEnvironment + environment]: ({ config }) => overridesIn(config, environment),
  };
};

function columnsOf(environments: Environment[], form: Form): Column<Branch>[] {
  const parent: Column<Branch> = {
    key: "parent",
    header: "Inherits from",
    width: "minmax(110px, 1fr)",
    cell: ({ config }) => <span className="mono muted ellipsis">{config.parent ?? "none"}</span>,
  };
  const ifLoaded = (sort: string) => (form === "pages" ? undefined : sort);
  return [
    { key: "name", header: "Config", width: "minmax(240px, 2fr)", sort: "key", cell: (row) => <Name row={row} /> },
    ...(form === "tree" ? [] : [parent]),
    {
      key: "items",
      header: "Own items",
      width: "minmax(92px, 110px)",
      sort: ifLoaded("-items"),
      option: { label: "Own items" },
      cell: (row) => <Count count={itemsOf(row)} />,
    },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(120px, 1fr)",
      sort: ifLoaded(`-${inEnvironment}${environment.id}`),
      cell: ({ config }: Branch) => <Overrides count={overridesIn(config, environment.id)} />,
    })),
    {
      key: "updated",
      header: "Changed",
      width: "minmax(90px, 120px)",
      sort: "-updated_at",
      option: { label: "Changed" },
      cell: ({ config }) => <RelativeTime at={config.updated_at} />,
    },
    {
      key: "created",
      header: "Created",
      width: "minmax(90px, 120px)",
      sort: "-created_at",
      option: { label: "Created", isHidden: true },
      cell: ({ config }) => <RelativeTime at={config.created_at} />,
    },
  ];
}

const optional = columnsOf([], "list");

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
