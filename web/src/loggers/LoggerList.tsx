import { SegmentedControl } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type KeyboardEvent, Suspense, useDeferredValue, useMemo, useState } from "react";
import { useAll, useList, useOne } from "../api/queries";
import type { Environment } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { EnvironmentLines, heightWith } from "../ui/EnvironmentLines";
import { Filter, ManagedFilter } from "../ui/Filter";
import { FirstKey } from "../ui/FirstKey";
import { type Column, Grid } from "../ui/Grid";
import { IconChevronDown, IconChevronRight } from "../ui/icons";
import { levels } from "../ui/LevelPill";
import { later } from "../ui/later";
import { RoleGate } from "../ui/RoleGate";
import { RowLink } from "../ui/RowLink";
import { SearchBox } from "../ui/SearchBox";
import { ordered, type Values } from "../ui/sorting";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { useSelection } from "../ui/useSelection";
import { Views } from "../ui/Views";
import { useWriter } from "../ui/WriteProvider";
import { LevelCell } from "./LevelCell";
import { LevelPicker, type Picking } from "./LevelPicker";
import styles from "./LoggerList.module.css";
import { base, effectiveIn, type Logger, withLevel } from "./levels";
import { buildTree, flatRows, matches, type Row, rowsOf } from "./tree";

const LoggerActions = later(() => import("./LoggerActions"));

/** small is the number of loggers up to which all branches are open. */
const small = 80;

/** LoggerList is the screen of log levels: a tree or a list, a column for each environment. */
export default function LoggerList() {
  const search = useSearch({ from: "/frame/loggers" });
  const environments = useColumns();
  const loggers = useAll("logger", { "filter[service]": search.service });
  const { rows, toggle } = useRows(loggers.data ?? [], environments);
  const [picking, setPicking] = useState<Picking>();
  const [watched, setWatched] = useState<string>();
  const isList = search.view === "list";
  const columns = useMemo(() => {
    const all = columnsOf(environments, watched, setPicking, toggle);
    return isList ? all : all.map((column) => ({ ...column, sort: undefined })); // a tree cannot be sorted
  }, [environments, watched, toggle, isList]);
  const selection = useSelection();
  const navigate = useNavigate();
  const open = (row: Row) => navigate({ to: "/loggers/$id", params: { id: row.id } });

  const onKey = (event: KeyboardEvent, row: Row) => {
    const inName = (event.target as HTMLElement).dataset.cell?.endsWith(":0");
    const wants = { ArrowRight: true, ArrowLeft: false }[event.key];
    if (!inName || wants === undefined || row.below === 0 || row.open === wants) return false;
    toggle(row.id, wants);
    return true;
  };

  return (
    <main className="screen">
      <Filters />
      {loggers.isPending && <Loading rows={14} />}
      {loggers.error && !loggers.data && <ErrorState error={loggers.error} retry={() => loggers.refetch()} />}
      {loggers.data?.length === 0 && <NoLoggers />}
      {loggers.data && loggers.data.length > 0 && rows.length === 0 && <EmptyState title="No logger passes the filter" />}
      {rows.length > 0 && (
        <Grid
          label="Loggers"
          columns={columns}
          count={rows.length}
          at={(index) => rows[index]}
          keyOf={(row) => row.id}
          onOpen={open}
          onKey={onKey}
          selection={selection}
          dimmed={(row) => row.logger === undefined || !row.logger.attributes.managed}
          cardHeight={heightWith(environments)}
          card={(row) => <Card row={row} environments={environments} watched={watched} pick={setPicking} toggle={toggle} />}
        />
      )}
      {selection.selected.size > 0 && (
        <Suspense>
          <LoggerActions selection={selection} all={rows.flatMap(({ logger }) => logger?.id ?? [])} environments={environments} />
        </Suspense>
      )}
      {picking && <LevelPicker picking={picking} onClose={() => setPicking(undefined)} onWritten={setWatched} />}
    </main>
  );
}

/** valuesIn returns the values by which loggers are sorted: their names, their groups, and their level in an environment. */
function valuesIn(environments: string[]): Values<Logger> {
  const verbosity = (environment: string) => (logger: Logger) => {
    const level = effectiveIn(logger.attributes, environment)?.level;
    return level && levels.indexOf(level);
  };
  return {
    id: ({ id }) => id,
    group: ({ attributes }) => attributes.group ?? undefined,
    ...Object.fromEntries(environments.map((environment) => [`level:${environment}`, verbosity(environment)])),
  };
}

/** useRows returns the rows of the tree or list that the address asks for. */
function useRows(loggers: Logger[], environments: Environment[]) {
  const search = useSearch({ from: "/frame/loggers" });
  const setSearch = useSetSearch();
  const { q, managed, group, level, only, view, open, sort } = search;
  const text = useDeferredValue(q);
  const isFiltered = Boolean(text || managed || group || level || only);
  const ids = environments.map(({ id }) => id).join(",");
  const found = useMemo(
    () =>
      isFiltered
        ? loggers.filter((logger) => matches(logger, { q: text, managed, group, level, only, environments: ids.split(",") }))
        : loggers,
    [loggers, isFiltered, text, managed, group, level, only, ids],
  );
  const known = useMemo(() => new Map(loggers.map((logger) => [logger.id, logger])), [loggers]);
  const tree = useMemo(() => buildTree(found, known), [found, known]);
  const rows = useMemo(() => {
    if (view === "list") return flatRows(ordered(found, sort, valuesIn(ids.split(","))));
    const opened = open === undefined ? undefined : new Set(open.split(","));
    const isSmall = found.length <= small;
    return rowsOf(tree, (id, depth) => (opened ? opened.has(id) : isFiltered || isSmall || (depth === 0 && tree.children.size < 5)));
  }, [found, tree, view, open, sort, ids, isFiltered]);
  const toggle = useMemo(
    () => (id: string, wants: boolean) => {
      const opened = new Set(rows.filter((row) => row.open).map((row) => row.id));
      if (wants) opened.add(id);
      else opened.delete(id);
      setSearch({ open: [...opened].join(",") || "-" });
    },
    [rows, setSearch],
  );
  return { rows, toggle };
}

type Pick = (picking: Picking) => void;
type Toggle = (id: string, open: boolean) => void;

function columnsOf(environments: Environment[], watched: string | undefined, pick: Pick, toggle: Toggle): Column<Row>[] {
  return [
    {
      key: "name",
      header: "Logger",
      width: "minmax(260px, 1.2fr)",
      sort: "id",
      isUsualOrder: true,
      cell: (row) => <NameCell row={row} toggle={toggle} />,
    },
    { key: "group", header: "Group", width: "minmax(80px, 130px)", sort: "group", cell: (row) => <GroupCell row={row} /> },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(200px, 1fr)",
      sort: `level:${environment.id}`,
      cell: (row: Row) => <Level row={row} environment={environment} watched={watched === row.id} pick={pick} />,
    })),
  ];
}

function NameCell({ row, toggle }: { row: Row; toggle: Toggle }) {
  return (
    <span className={styles.name} style={{ paddingLeft: row.depth * 18 }}>
      {row.below > 0 ? (
        <span className={styles.toggle} onClick={() => toggle(row.id, !row.open)} aria-hidden="true">
          {row.open ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
        </span>
      ) : (
        <span className={styles.toggle} />
      )}
      {row.below > 0 && <span className="visually-hidden">{row.open ? "open" : "closed"}</span>}
      {row.logger ? (
        <RowLink to="/loggers/$id" id={row.id}>
          {row.label}
        </RowLink>
      ) : (
        <span className={styles.label}>{row.label}</span>
      )}
      {row.below > 0 && <span className={styles.count}>{row.below}</span>}
    </span>
  );
}

function GroupCell({ row }: { row: Row }) {
  const { logger } = row;
  if (!logger) return null;
  if (logger.attributes.managed) {
    const { group } = logger.attributes;
    return group ? (
      <RowLink to="/log-groups/$id" id={group} className="ellipsis">
        {group}
      </RowLink>
    ) : null;
  }
  return <Manage logger={logger} />;
}

/** Manage makes a discovered logger managed, with its current level. */
function Manage({ logger }: { logger: Logger }) {
  const writer = useWriter();
  const manage = () =>
    void writer.attempt({
      kind: "logger",
      id: logger.id,
      title: `Manage ${logger.id}`,
      done: `${logger.id} is managed: services follow its level.`,
      change: (current) => ({ ...withLevel(current, base, { level: current?.level ?? null }), managed: true }),
    });
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <button
          type="button"
          tabIndex={-1}
          className={`plain ${styles.manage}`}
          disabled={disabled}
          onClick={manage}
          title="Reported by services, not managed yet."
        >
          manage
        </button>
      )}
    </RoleGate>
  );
}

interface LevelProps {
  row: Row;
  environment: Environment;
  watched: boolean;
  pick: Pick;
}

function Level({ watched, ...props }: LevelProps) {
  return watched ? <WatchedLevel {...props} /> : <PlainLevel {...props} />;
}

/** WatchedLevel polls for confirmations after a level was set here, because reports send no events. */
function WatchedLevel({ row, ...props }: Omit<LevelProps, "watched">) {
  const { data } = useOne("logger", row.id, { refetchInterval: 2000 });
  return <PlainLevel row={{ ...row, logger: data?.resource ?? row.logger }} {...props} />;
}

function PlainLevel({ row, environment, pick }: Omit<LevelProps, "watched">) {
  const onPick = (anchor: HTMLElement) =>
    pick({
      anchor,
      kind: "logger",
      id: row.id,
      environment,
      level: row.logger && effectiveIn(row.logger.attributes, environment.id)?.level,
      isSet: Boolean(row.logger?.attributes.environments[environment.id]),
    });
  return <LevelCell id={row.id} logger={row.logger} environment={environment} onPick={onPick} />;
}

interface CardProps {
  row: Row;
  environments: Environment[];
  watched?: string;
  pick: Pick;
  toggle: Toggle;
}

function Card({ row, environments, watched, pick, toggle }: CardProps) {
  return (
    <>
      <NameCell row={row} toggle={toggle} />
      <EnvironmentLines of={environments}>
        {(environment) => <Level row={row} environment={environment} watched={watched === row.id} pick={pick} />}
      </EnvironmentLines>
    </>
  );
}

function Filters() {
  const { view } = useSearch({ from: "/frame/loggers" });
  const setSearch = useSetSearch();
  const services = useList("service", { "page[size]": 1000 });
  const groups = useList("log_group", { "page[size]": 1000 });
  return (
    <header className="screen-head">
      <h1>Log levels</h1>
      <SegmentedControl
        size="xs"
        aria-label="View"
        data={[
          { value: "tree", label: "Tree" },
          { value: "list", label: "List" },
        ]}
        value={view ?? "tree"}
        onChange={(value) => setSearch({ view: value === "tree" ? undefined : value })}
      />
      <SearchBox label="Filter by name" />
      <ManagedFilter all="All loggers" />
      <Filter name="service" label="Service" any="Any service" choices={(services.data?.data ?? []).map(({ id }) => id)} />
      <Filter name="group" label="Group" any="Any group" choices={(groups.data?.data ?? []).map(({ id }) => id)} />
      <Filter name="level" label="Level" any="Any level" choices={levels} />
      <Filter
        name="only"
        label="State"
        any="Any state"
        choices={[
          { value: "overridden", label: "Overridden only" },
          { value: "expiring", label: "Temporary" },
        ]}
      />
      <Views />
      <Link to="/log-groups" className={styles.groups}>
        Groups
      </Link>
    </header>
  );
}

function NoLoggers() {
  const code = `box, err := live.Start(ctx, live.WithURL("${window.location.origin}"), live.WithKey(key),
	live.WithEnvironment("production"), live.WithService("checkout"))
log := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil)).Logger("shop.payments")`;
  return (
    <EmptyState title="No loggers yet" code={code} action={<FirstKey />}>
      Services with a client report their loggers when they start. A reported logger is discovered: it is listed here, and Signalbox does
      not control it until you set a level. Click its level to set one; every service with this logger follows within a second.
    </EmptyState>
  );
}
