import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { createContext, type ReactElement, Suspense, useCallback, useContext, useMemo, useState } from "react";
import type { Environment } from "../api/session";
import { useColumns, useFocus, useSetSearch } from "../app/focus";
import { most } from "../ui/bulk";
import { Columns } from "../ui/Columns";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { EnvironmentLines, heightWith } from "../ui/EnvironmentLines";
import { Filter, ManagedFilter } from "../ui/Filter";
import type { Column } from "../ui/Grid";
import { IconSnowflake } from "../ui/icons";
import { later } from "../ui/later";
import { NewButton } from "../ui/NewButton";
import { PagedGrid, Total } from "../ui/PagedGrid";
import { RelativeTime, useNow } from "../ui/RelativeTime";
import { RowLink } from "../ui/RowLink";
import { SearchBox } from "../ui/SearchBox";
import { staleText } from "../ui/stale";
import { EmptyState } from "../ui/states";
import { Tag } from "../ui/Tag";
import { useChosen } from "../ui/useChosen";
import { useSelection } from "../ui/useSelection";
import { Views } from "../ui/Views";
import styles from "./FlagList.module.css";
import type { Flag } from "./flags";
import { outcomeOf, valueText } from "./outcome";
import { Toggle } from "./Toggle";
import { Trend, WithTrends } from "./Trend";
import { useFlags, useStale } from "./useFlags";

const Stale = createContext<ReturnType<typeof useStale>>(new Map());

const FlagActions = later(() => import("./FlagActions"));
const NewFlag = later(() => import("./NewFlag"));

/** FlagList is the screen of flags: a row for each, a column for each environment. */
export default function FlagList() {
  const search = useSearch({ from: "/frame/flags" });
  const environments = useColumns();
  const navigate = useNavigate();
  const setSearch = useSetSearch();
  const setNew = (open: boolean) => setSearch({ new: open ? "1" : undefined });
  const found = useFlags(search);
  const [inView, setInView] = useInView(found.onRange);
  const pages = { ...found, onRange: setInView };
  const focus = useFocus();
  const selection = useSelection();
  const all = useMemo(() => columnsOf(environments), [environments]);
  const columns = useChosen(all);
  const { q, type, managed, references, stale, new: isNew } = search;
  const isFiltered = Boolean(q || type || managed || references || stale);
  return (
    <main className="screen">
      <Filters onNew={() => setNew(true)} count={<Total of={pages} />} columns={all} />
      <Stale value={useStale()}>
        <WithTrends ids={inView.flatMap((index) => pages.at(index)?.id ?? [])} environment={focus}>
          <PagedGrid
            label="Flags"
            pages={pages}
            empty={isFiltered ? <EmptyState title="No flag passes the filter" /> : <NoFlags onNew={() => setNew(true)} />}
            columns={columns}
            keyOf={(flag) => flag.id}
            onOpen={(flag) => navigate({ to: "/flags/$id", params: { id: flag.id } })}
            dimmed={(flag) => !flag.attributes.managed}
            selection={selection}
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
        </WithTrends>
      </Stale>
      {selection.selected.size > 0 && (
        <Suspense>
          <FlagActions selection={selection} all={idsOf(pages)} environments={environments} />
        </Suspense>
      )}
      <Suspense>{isNew && <NewFlag close={() => setNew(false)} />}</Suspense>
    </main>
  );
}

/** idsOf returns the ids of all flags, or none while only a part of them is loaded. */
function idsOf({ total, at }: { total: number; at: (index: number) => Flag | undefined }): string[] {
  if (total > most) return [];
  const ids = Array.from({ length: total }, (_, index) => at(index)?.id);
  return ids.every((id) => id !== undefined) ? ids : [];
}

const chunk = 50;

// useInView returns the rows whose trends are read: those in view, in whole chunks, once the list has stopped moving.
function useInView(onRange: (from: number, to: number) => void): [number[], (from: number, to: number) => void] {
  const [range, setRange] = useState("0:0");
  const [settled] = useDebouncedValue(range, 250);
  const rows = useMemo(() => {
    const [from = 0, to = 0] = settled.split(":").map(Number);
    return Array.from({ length: (to - from + 1) * chunk }, (_, index) => from * chunk + index);
  }, [settled]);
  const set = useCallback(
    (from: number, to: number) => {
      onRange(from, to);
      setRange(`${Math.floor(from / chunk)}:${Math.floor(to / chunk)}`);
    },
    [onRange],
  );
  return [rows, set];
}

function columnsOf(environments: Environment[]): Column<Flag>[] {
  return [
    {
      key: "name",
      header: "Flag",
      width: "minmax(240px, 2fr)",
      sort: "key",
      isUsualOrder: true,
      cell: (flag) => <NameCell flag={flag} />,
    },
    {
      key: "type",
      header: "Type",
      width: "90px",
      sort: "type",
      option: { label: "Type" },
      cell: (flag) => <span className="muted">{flag.attributes.type.toLowerCase()}</span>,
    },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(190px, 1fr)",
      cell: (flag: Flag) => <EnvironmentCell flag={flag} environment={environment} />,
    })),
    {
      key: "trend",
      header: "24 hours",
      width: "104px",
      option: { label: "Evaluations in 24 hours" },
      cell: (flag) => <Trend id={flag.id} />,
    },
    {
      key: "evaluated",
      header: "Last evaluated",
      width: "140px",
      sort: "-last_evaluated",
      option: { label: "Last evaluated" },
      cell: (flag) => <Evaluated flag={flag} />,
    },
    {
      key: "changed",
      header: "Changed",
      width: "110px",
      sort: "-updated_at",
      option: { label: "Changed", isHidden: true },
      cell: (flag) => <RelativeTime at={flag.attributes.updated_at} />,
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

/** EnvironmentCell says what a flag serves in an environment, beside the switch that decides whether its rules apply. */
function EnvironmentCell({ flag, environment }: { flag: Flag; environment: Environment }) {
  const { attributes } = flag;
  if (!attributes.managed) return <Discovered flag={flag} />;
  const { text, rest, isOff } = outcomeOf(attributes, environment.id);
  const isOwn = (attributes.environments[environment.id]?.default ?? null) !== null;
  return (
    <>
      {environment.managed ? (
        <Toggle flag={flag} environment={environment} />
      ) : (
        <span className={styles.frozen} title={`${environment.name} is not managed: its values are frozen`}>
          <IconSnowflake size={14} aria-hidden="true" /> {isOff ? "off" : "on"}
        </span>
      )}
      <span
        className={styles.chip}
        data-own={isOwn || rest !== undefined || undefined}
        data-off={isOff || undefined}
        title={rest && `otherwise ${rest}`}
      >
        {text}
      </span>
    </>
  );
}

/** Evaluated shows when a flag was last evaluated, and a mark if it is stale. */
function Evaluated({ flag }: { flag: Flag }) {
  const known = useContext(Stale);
  const stale = flag.attributes.stale ?? known.get(flag.id);
  const now = useNow(3600);
  return (
    <>
      <RelativeTime at={flag.attributes.last_evaluated} absent="not yet" />{" "}
      {stale && (
        <Tag tone="warning" title={`Stale: ${staleText(stale, now)}`}>
          stale
        </Tag>
      )}
    </>
  );
}

function Discovered({ flag }: { flag: Flag }) {
  return <span className="muted">code default {valueText(flag.attributes.default)}</span>;
}

function Filters({ onNew, count, columns }: { onNew: () => void; count: ReactElement; columns: Column<Flag>[] }) {
  return (
    <header className="screen-head">
      <h1>Flags</h1>
      {count}
      <SearchBox label="Search by id or name" />
      <Filter name="type" label="Type" any="Any type" choices={["BOOLEAN", "STRING", "NUMERIC", "JSON"]} />
      <ManagedFilter all="All flags" />
      <Filter name="stale" label="Use" any="Used or not" choices={[{ value: "1", label: "Stale" }]} />
      <SearchBox name="references" label="Filter by context in rules: type or type:key" placeholder="References user:alice" />
      <Views />
      <Columns of={columns} />
      <span className="spring" />
      <NewButton onClick={onNew}>New flag</NewButton>
    </header>
  );
}

function NoFlags({ onNew }: { onNew: () => void }) {
  const code = `checkout := box.Bool("checkout-v2", false) // declared once, when the service starts
if checkout.Get(live.WithContext(ctx, live.User("alice", live.Attr("plan", "pro")))) {
	// the new checkout
}`;
  return (
    <EmptyState title="No flags yet" code={code} action={<NewButton onClick={onNew}>New flag</NewButton>}>
      Create one here, or let a service declare it: a declared flag is discovered, and serves the default in the code until you manage it.
    </EmptyState>
  );
}
