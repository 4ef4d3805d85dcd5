import { Badge, Button, NativeSelect, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import type { Environment } from "../api/session";
import { useColumns, useSetSearch } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { type Column, Grid } from "../ui/Grid";
import { IconSnowflake } from "../ui/icons";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { usePages } from "../ui/usePages";
import { useWriter } from "../ui/WriteProvider";
import styles from "./FlagList.module.css";
import { chipOf, defaultIn, type Flag, withSettings } from "./flags";
import { shareOf } from "./rules";

const NewFlag = lazy(() => import("./NewFlag"));

/** FlagList is the screen of flags: a row for each, a column for each environment. */
export default function FlagList() {
  const { q, type, managed, references } = useSearch({ from: "/frame/flags" });
  const [text] = useDebouncedValue(q, 120);
  const environments = useColumns();
  const navigate = useNavigate();
  const [isNew, setNew] = useState(false);
  const isOne = references?.includes(":");
  const pages = usePages("flag", {
    "filter[search]": text,
    "filter[type]": type,
    "filter[managed]": managed,
    "filter[references_context]": isOne ? references : undefined,
    "filter[references_context_type]": isOne ? undefined : references,
  });
  const columns = useMemo(() => columnsOf(environments), [environments]);
  const isFiltered = Boolean(q || type || managed || references);
  return (
    <main className="screen">
      <Filters onNew={() => setNew(true)} total={pages.total} />
      {pages.isPending && <Loading rows={14} />}
      {pages.error && <ErrorState error={pages.error} retry={() => pages.refetch()} />}
      {!pages.isPending &&
        !pages.error &&
        pages.total === 0 &&
        (isFiltered ? <EmptyState title="No flag passes the filter" /> : <NoFlags />)}
      {pages.total > 0 && (
        <Grid
          label="Flags"
          columns={columns}
          count={pages.total}
          at={pages.at}
          onRange={pages.onRange}
          keyOf={(flag) => flag.id}
          onOpen={(flag) => navigate({ to: "/flags/$id", params: { id: flag.id } })}
          dimmed={(flag) => !flag.attributes.managed}
          cardHeight={44 + environments.length * 30}
          card={(flag) => (
            <>
              <NameCell flag={flag} />
              {environments.map((environment) => (
                <div key={environment.id} className={styles.line}>
                  <span className={styles.where}>
                    <EnvironmentName environment={environment} />
                  </span>
                  <EnvironmentCell flag={flag} environment={environment} />
                </div>
              ))}
            </>
          )}
        />
      )}
      <Suspense>{isNew && <NewFlag close={() => setNew(false)} />}</Suspense>
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
      cell: (flag) => <RelativeTime at={flag.attributes.last_evaluated} absent="not yet" />,
    },
  ];
}

function NameCell({ flag }: { flag: Flag }) {
  const { name, managed } = flag.attributes;
  return (
    <>
      <Link to="/flags/$id" params={{ id: flag.id }} tabIndex={-1} className={styles.link} title={name}>
        {flag.id}
      </Link>
      {!managed && (
        <span className="muted" title="A service declared it; nobody configured it yet, so services serve the default of their code.">
          (discovered)
        </span>
      )}
    </>
  );
}

/** EnvironmentCell shows the switch of a flag in an environment, what it serves, and how many rules decide first. */
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
        <span className={styles.frozen} title={`${environment.name} is not managed: what is stored stays and cannot be changed`}>
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

/** Toggle switches a flag on or off in an environment. */
export function Toggle({ flag, environment, label }: { flag: Flag; environment: Environment; label?: string }) {
  const writer = useWriter();
  const isOn = flag.attributes.environments[environment.id]?.enabled ?? true;
  const toggle = () =>
    void writer.attempt({
      kind: "flag",
      id: flag.id,
      title: `Switch ${flag.id} ${isOn ? "off" : "on"} in ${environment.name}`,
      done: `${flag.id} is ${isOn ? "off" : "on"} in ${environment.name}.`,
      environments: [environment.id],
      change: (current) => withSettings(current, environment.id, (settings) => ({ ...settings, enabled: !isOn })),
    });
  return (
    <RoleGate needs="MEMBER" environment={environment.id}>
      {(disabled) => (
        <Switch
          size="xs"
          tabIndex={label ? 0 : -1}
          checked={isOn}
          disabled={disabled}
          onChange={toggle}
          label={label}
          aria-label={label ?? `${flag.id} in ${environment.name}`}
        />
      )}
    </RoleGate>
  );
}

function Discovered({ flag }: { flag: Flag }) {
  return <span className="muted">code default {chipOf(flag.attributes.default)}</span>;
}

function Filters({ onNew, total }: { onNew: () => void; total: number }) {
  const { q, type, managed, references } = useSearch({ from: "/frame/flags" });
  const setSearch = useSetSearch();
  return (
    <header className="screen-head">
      <h1>Flags</h1>
      <Badge variant="light" color="gray">
        {total}
      </Badge>
      <TextInput
        size="xs"
        w={180}
        data-search
        placeholder="Search by id or name"
        aria-label="Search by id or name"
        value={q ?? ""}
        onChange={(event) => setSearch({ q: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        size="xs"
        aria-label="Type"
        value={type ?? ""}
        onChange={(event) => setSearch({ type: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "Any type" }, "BOOLEAN", "STRING", "NUMERIC", "JSON"]}
      />
      <NativeSelect
        size="xs"
        aria-label="Managed"
        value={managed ?? ""}
        onChange={(event) => setSearch({ managed: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "All flags" },
          { value: "true", label: "Managed" },
          { value: "false", label: "Discovered" },
        ]}
      />
      <TextInput
        size="xs"
        w={170}
        placeholder="References user:alice"
        aria-label="Rules that reference a context, as type or type:key"
        value={references ?? ""}
        onChange={(event) => setSearch({ references: event.currentTarget.value || undefined })}
      />
      <span className="spring" />
      <RoleGate needs="MEMBER">
        {(disabled) => (
          <Button size="compact-sm" disabled={disabled} onClick={onNew}>
            New flag
          </Button>
        )}
      </RoleGate>
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
      Make one here, or let a service declare it: a declared flag is discovered, and serves the default of the code until you manage it.
    </EmptyState>
  );
}
