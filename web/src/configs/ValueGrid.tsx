import { Link, useSearch } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import type { Environment } from "../api/session";
import { useSetSearch } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { type Column, Grid } from "../ui/Grid";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState } from "../ui/states";
import styles from "./configs.module.css";
import { type Level, originWord, type Resolved, type Row, shown, standing } from "./values";

const ValueEditor = later(() => import("./ValueEditor").then(({ ValueEditor }) => ({ default: ValueEditor })));

interface Values {
  level: Level;
  rows: Row[];
  environments: Environment[];
  /** resolved has the server's resolved values by environment; "" is the key of the values without an environment. */
  resolved: Map<string, Resolved | undefined>;
}

/** ValueGrid shows the resolved values: a row for each item, a column for each environment. Every value is edited in place. */
export function ValueGrid({ level, rows, environments, resolved }: Values) {
  const { q = "", edit } = useSearch({ from: "/frame/configs/$id" });
  const setSearch = useSetSearch();
  const found = useMemo(() => rows.filter(({ key }) => key.toLowerCase().includes(q.toLowerCase())), [rows, q]);
  const columns = useMemo(
    () => columnsOf(level.id, environments, resolved, (place) => setSearch({ edit: place })),
    [level.id, environments, resolved, setSearch],
  );
  if (rows.length === 0) return <NoItems id={level.id} />;
  return (
    <>
      <div className={styles.tools}>
        <SearchBox label="Search items" />
        <span>Bold values are set here; gray values are inherited. Any value can be changed in place.</span>
      </div>
      {found.length === 0 ? (
        <EmptyState title="No item has this text in its key" />
      ) : (
        <div className={styles.values}>
          <Grid
            label="Values"
            columns={columns}
            count={found.length}
            at={(index) => found[index]}
            keyOf={({ key }) => key}
            card={(row) => (
              <Card row={row} id={level.id} environments={environments} resolved={resolved} edit={(place) => setSearch({ edit: place })} />
            )}
            cardHeight={70 + environments.length * 28}
          />
        </div>
      )}
      {edit && <Editing edit={edit} values={{ level, rows, environments, resolved }} onClose={() => setSearch({ edit: undefined })} />}
    </>
  );
}

/** placeName returns the name of a cell in the address: the key, @ and the environment. */
const placeName = (key: string, environment?: Environment) => `${key}@${environment?.id ?? ""}`;

function Editing({ edit, values, onClose }: { edit: string; values: Values; onClose: () => void }) {
  const { level, rows, environments, resolved } = values;
  const at = edit.lastIndexOf("@");
  const row = rows.find(({ key }) => key === edit.slice(0, at));
  const environment = environments.find(({ id }) => id === edit.slice(at + 1));
  const anchor = useMemo(() => document.querySelector<HTMLElement>(`[data-edit="${CSS.escape(edit)}"]`), [edit]);
  if (!row || (!environment && !edit.endsWith("@"))) return null;
  const effective = resolved.get(environment?.id ?? "")?.values[row.key];
  return (
    <Suspense>
      <ValueEditor key={edit} level={level} row={row} environment={environment} effective={effective} anchor={anchor} onClose={onClose} />
    </Suspense>
  );
}

type Edit = (place: string) => void;

function columnsOf(id: string, environments: Environment[], resolved: Values["resolved"], edit: Edit): Column<Row>[] {
  const column = (environment?: Environment): Column<Row> => ({
    key: environment?.id ?? "",
    header: environment ? <EnvironmentName environment={environment} /> : "Default",
    width: "minmax(170px, 1fr)",
    cell: (row) => <Cell id={id} row={row} environment={environment} resolved={resolved.get(environment?.id ?? "")} edit={edit} />,
  });
  return [
    { key: "item", header: "Item", width: "minmax(190px, 1.3fr)", cell: (row) => <Key row={row} /> },
    column(),
    ...environments.map(column),
  ];
}

function Key({ row: { key, item, of, isOwn } }: { row: Row }) {
  const setSearch = useSetSearch();
  return (
    <div className={styles.title}>
      {isOwn ? (
        <button
          type="button"
          tabIndex={-1}
          className={styles.key}
          title={item.description ?? undefined}
          onClick={() => setSearch({ item: key })}
        >
          {key}
        </button>
      ) : (
        <Link
          to="/configs/$id"
          params={{ id: of }}
          search={{ item: key }}
          tabIndex={-1}
          className={`mono ellipsis ${styles.inherited}`}
          title={`Declared in ${of}${item.description ? `: ${item.description}` : ""}`}
        >
          {key}
        </Link>
      )}
      <span className={styles.type}>
        {item.type.toLowerCase()}
        {item.schema ? " with schema" : ""}
      </span>
    </div>
  );
}

interface CellProps {
  id: string;
  row: Row;
  environment?: Environment;
  resolved: Resolved | undefined;
  edit: Edit;
}

function Cell({ id, row, environment, resolved, edit }: CellProps) {
  const origin = resolved?.origins[row.key];
  const value = shown(resolved?.values[row.key]);
  const from = originWord(id, origin, environment?.id);
  const place = placeName(row.key, environment);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-edit={place}
      data-standing={standing(id, origin, environment?.id)}
      className={styles.cell}
      aria-label={`${row.key} ${environment ? `in ${environment.name}` : "by default"}: ${value} ${from || "set here"}`}
      title={shown(resolved?.values[row.key], 1000)}
      onClick={() => edit(place)}
    >
      <span className={styles.value}>{value}</span> {from && <span className={styles.origin}>{from}</span>}
    </button>
  );
}

function Card({
  row,
  environments,
  resolved,
  ...props
}: Omit<CellProps, "resolved"> & { environments: Environment[]; resolved: Values["resolved"] }) {
  return (
    <>
      <Key row={row} />
      {[undefined, ...environments].map((environment) => (
        <div key={environment?.id ?? ""} className={styles.line}>
          {environment ? <EnvironmentName environment={environment} /> : <span>Default</span>}
          <Cell row={row} environment={environment} resolved={resolved.get(environment?.id ?? "")} {...props} />
        </div>
      ))}
    </>
  );
}

function NoItems({ id }: { id: string }) {
  const setSearch = useSetSearch();
  return (
    <EmptyState
      title="No items yet"
      action={<NewButton onClick={() => setSearch({ add: "1" })}>New item</NewButton>}
      code={`signalbox configs set ${id} timeout_ms=1500 --url ${window.location.origin}\nsignalbox configs set ${id} timeout_ms=800 -e production`}
    >
      An item has a key, a type and a default. Each environment may have another value; without one it gets the default.
    </EmptyState>
  );
}
