import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import type { Environment } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { EnvironmentLines, heightWith } from "../ui/EnvironmentLines";
import { Filter, ManagedFilter } from "../ui/Filter";
import type { Column } from "../ui/Grid";
import { IconSnowflake } from "../ui/icons";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { PagedGrid } from "../ui/PagedGrid";
import { RelativeTime, useNow } from "../ui/RelativeTime";
import { RowLink } from "../ui/RowLink";
import { SearchBox } from "../ui/SearchBox";
import { staleness } from "../ui/stale";
import { EmptyState } from "../ui/states";
import { Tag } from "../ui/Tag";
import styles from "./FlagList.module.css";
import { chipOf, defaultIn, type Flag } from "./flags";
import { shareOf } from "./rules";
import { Toggle } from "./Toggle";
import { useFlags } from "./useFlags";

const NewFlag = later(() => import("./NewFlag"));

/** FlagList is the screen of flags: a row for each, a column for each environment. */
export default function FlagList() {
  const search = useSearch({ from: "/frame/flags" });
  const environments = useColumns();
  const navigate = useNavigate();
  const setSearch = useSetSearch();
  const pages = useFlags(search);
  const columns = useMemo(() => columnsOf(environments), [environments]);
  const { q, type, managed, references, stale } = search;
  const isFiltered = Boolean(q || type || managed || references || stale);
  return (
    <main className="screen">
      <Filters onNew={() => setSearch({ new: "1" })} total={pages.total} />
      <PagedGrid
        label="Flags"
        pages={pages}
        empty={isFiltered ? <EmptyState title="No flag passes the filter" /> : <NoFlags />}
        columns={columns}
        keyOf={(flag) => flag.id}
        onOpen={(flag) => navigate({ to: "/flags/$id", params: { id: flag.id } })}
        dimmed={(flag) => !flag.attributes.managed}
        cardHeight={heightWith(environments)}
        card={(flag) => (
          <>
            <div className={styles.head}>
              <span className="ellipsis">
                <NameCell flag={flag} />
              </span>
              <span className="muted">
                <Evaluated flag={flag} />
              </span>
            </div>
            <EnvironmentLines of={environments}>
              {(environment) => <EnvironmentCell flag={flag} environment={environment} />}
            </EnvironmentLines>
          </>
        )}
      />
      <Suspense>{search.new && <NewFlag close={() => setSearch({ new: undefined })} />}</Suspense>
    </main>
  );
}

function columnsOf(environments: Environment[]): Column<Flag>[] {
  return [
    { key: "name", header: "Flag", width: "minmax(240px, 2fr)", cell: (flag) => <NameCell flag={flag} /> },
    { key: "type", header: "Type", width: "90px", cell: (flag) => <span className="muted">{flag.attributes.type.toLowerCase()}</span> },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(190px, 1fr)",
      cell: (flag: Flag) => <EnvironmentCell flag={flag} environment={environment} />,
    })),
    {
      key: "evaluated",
      header: "Last evaluated",
      width: "130px",
      cell: (flag) => <Evaluated flag={flag} />,
    },
  ];
}

function NameCell({ flag }: { flag: Flag }) {
  const { name, managed } = flag.attributes;
  return (
    <>
      <RowLink to="/flags/$id" id={flag.id} title={name}>
        {flag.id}
      </RowLink>
      {!managed && (
        <span className="muted" title="A service declared it; nobody manages it yet, so services use the default in their code.">
          (discovered)
        </span>
      )}
    </>
  );
}

/** EnvironmentCell shows the switch of a flag in an environment, its default there, and the number of its rules. */
function EnvironmentCell({ flag, environment }: { flag: Flag; environment: Environment }) {
  const { attributes } = flag;
  if (!attributes.managed) return <Discovered flag={flag} />;
  const entry = attributes.environments[environment.id];
  const shares = (entry?.rules ?? []).map(({ logic }) => shareOf(logic)).filter((share) => share !== undefined);
  const rules = entry?.rules.length ?? 0;
  return (
    <>
      {environment.managed ? (
        <Toggle flag={flag} environment={environment} />
      ) : (
        <span className={styles.frozen} title={`${environment.name} is not managed: its values are frozen`}>
          <IconSnowflake size={14} aria-hidden="true" /> {entry?.enabled === false ? "off" : "on"}
        </span>
      )}
      <span className={styles.chip} data-own={(entry?.default ?? null) !== null || undefined}>
        {chipOf(defaultIn(attributes, environment.id))}
      </span>
      {rules > 0 && (
        <span className="muted">
          {rules} {rules === 1 ? "rule" : "rules"}
          {shares.length === 1 && ` · ${shares[0]} %`}
        </span>
      )}
    </>
  );
}

/** Evaluated shows when a flag was last evaluated, and a mark if it is stale. */
function Evaluated({ flag }: { flag: Flag }) {
  const reason = staleness(flag.attributes, useNow(3600));
  return (
    <>
      <RelativeTime at={flag.attributes.last_evaluated} absent="not yet" />{" "}
      {reason && (
        <span title={`Stale: ${reason}`}>
          <Tag tone="warning">stale</Tag>
        </span>
      )}
    </>
  );
}

function Discovered({ flag }: { flag: Flag }) {
  return <span className="muted">code default {chipOf(flag.attributes.default)}</span>;
}

function Filters({ onNew, total }: { onNew: () => void; total: number }) {
  return (
    <header className="screen-head">
      <h1>Flags</h1>
      <Tag>{total}</Tag>
      <SearchBox label="Search by id or name" />
      <Filter name="type" label="Type" any="Any type" choices={["BOOLEAN", "STRING", "NUMERIC", "JSON"]} />
      <ManagedFilter all="All flags" />
      <Filter name="stale" label="Use" any="Used or not" choices={[{ value: "1", label: "Stale" }]} />
      <SearchBox name="references" label="Filter by context in rules: type or type:key" placeholder="References user:alice" />
      <span className="spring" />
      <NewButton onClick={onNew}>New flag</NewButton>
    </header>
  );
}

function NoFlags() {
  const code = `checkout := box.Bool("checkout-v2", false) // declared once, when the service starts
if checkout.Get(live.WithContext(ctx, live.User("alice", live.Attr("plan", "pro")))) {
	// the new checkout
}`;
  return (
    <EmptyState title="No flags yet" code={code}>
      Create one here, or let a service declare it: a declared flag is discovered, and serves the default in the code until you manage it.
    </EmptyState>
  );
}
