import { Button } from "@mantine/core";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import { useList } from "../api/queries";
import { useEnvironments } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { LeaveButton } from "../ui/LeaveButton";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { RoleGate } from "../ui/RoleGate";
import { ErrorState } from "../ui/states";
import { TabbedPanel } from "../ui/TabbedPanel";
import { useChain, useResolved } from "./queries";
import { ValueGrid } from "./ValueGrid";
import { type Level, rowsOf } from "./values";

const Compare = later(() => import("./Compare").then(({ Compare }) => ({ default: Compare })));
const Code = later(() => import("./Code").then(({ Code }) => ({ default: Code })));
const History = later(() => import("../ui/History"));
const ItemDialog = later(() => import("./ItemDialog").then(({ ItemDialog }) => ({ default: ItemDialog })));
const EditConfig = later(() => import("./ConfigForm").then(({ EditConfig }) => ({ default: EditConfig })));

const list = { to: "/configs", label: "Config" };

/** ConfigDetail is the page of one config: its values in every environment, and where each comes from. */
export default function ConfigDetail() {
  const { id } = useParams({ from: "/frame/configs/$id" });
  return (
    <Detail query={useChain(id)} list={list} id={id}>
      {(chain) => <Page key={chain[0]?.id} chain={chain} />}
    </Detail>
  );
}

function Page({ chain }: { chain: Level[] }) {
  const level = chain[0] as Level;
  const { id, config } = level;
  const environments = useEnvironments();
  return (
    <main className="screen detail">
      <DetailHead list={list} title={id} subtitle={config.name === id ? undefined : config.name}>
        <Actions level={level} />
      </DetailHead>
      <Ancestors chain={chain} />
      <TabbedPanel
        label="About this config"
        tabs={[
          { key: "values", label: "Values", body: () => <Values chain={chain} /> },
          { key: "compare", label: "Compare", body: () => <Compare chain={chain} environments={environments} /> },
          { key: "code", label: "Code", body: () => <Code chain={chain} /> },
          { key: "history", label: "History", body: () => <History kind="config" id={id} /> },
        ]}
      />
      <Dialogs level={level} />
    </main>
  );
}

/** Ancestors shows the ancestors of a config, and its description. */
function Ancestors({ chain }: { chain: Level[] }) {
  const { config } = chain[0] as Level;
  return (
    <p className="muted" style={{ margin: 0, fontSize: 13 }}>
      {chain.length === 1 ? "It inherits from no other config." : "Inherits from "}
      {chain.slice(1).map(({ id }, index) => (
        <span key={id}>
          {index > 0 && " ← "}
          <Link to="/configs/$id" params={{ id }} className="mono">
            {id}
          </Link>
        </span>
      ))}
      {config.description && <span> · {config.description}</span>}
    </p>
  );
}

function Values({ chain }: { chain: Level[] }) {
  const level = chain[0] as Level;
  const environments = useColumns();
  const rows = useMemo(() => rowsOf(chain), [chain]);
  const { of, error } = useResolved(
    level.id,
    environments.map(({ id }) => id),
  );
  if (error && of.get("") === undefined) return <ErrorState error={error} />;
  return <ValueGrid level={level} rows={rows} environments={environments} resolved={of} />;
}

function Actions({ level }: { level: Level }) {
  const setSearch = useSetSearch();
  return (
    <>
      <NewButton onClick={() => setSearch({ add: "1" })}>New item</NewButton>
      <RoleGate needs="MEMBER">
        {(disabled) => (
          <Button size="compact-sm" variant="default" disabled={disabled} onClick={() => setSearch({ settings: "1" })}>
            Settings…
          </Button>
        )}
      </RoleGate>
      <Delete level={level} />
    </>
  );
}

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

function Delete({ level: { id, config } }: { level: Level }) {
  const { data } = useList("config", { "filter[parent]": id, "page[size]": 5, "meta[total]": true });
  const children = data?.meta.pagination.total ?? 0;
  const names = (data?.data ?? []).map((child) => child.id).join(", ");
  const kept =
    id === "common"
      ? "common is the default parent of configs and cannot be deleted."
      : children > 0
        ? `${children} ${children === 1 ? "config inherits" : "configs inherit"} from it (${names}${children > 5 ? ", …" : ""}): give them another parent first.`
        : undefined;
  const overrides = Object.values(config.environments).reduce((sum, values) => sum + Object.keys(values).length, 0);
  return (
    <LeaveButton
      to={list.to}
      kept={kept}
      write={{
        kind: "config",
        id,
        method: "DELETE",
        title: `Delete the config ${id}`,
        done: `Deleted ${id}.`,
        consequences: `${plural(Object.keys(config.items).length, "item")} and ${plural(overrides, "override")} go with it. Services that read it keep the defaults of their code.`,
      }}
    >
      Delete…
    </LeaveButton>
  );
}

function Dialogs({ level }: { level: Level }) {
  const { add, item, settings } = useSearch({ from: "/frame/configs/$id" });
  const setSearch = useSetSearch();
  return (
    <Suspense>
      {add && <ItemDialog level={level} onClose={() => setSearch({ add: undefined })} />}
      {item !== undefined && item in level.config.items && (
        <ItemDialog key={item} level={level} itemKey={item} onClose={() => setSearch({ item: undefined })} />
      )}
      {settings && <EditConfig level={level} onClose={() => setSearch({ settings: undefined })} />}
    </Suspense>
  );
}
