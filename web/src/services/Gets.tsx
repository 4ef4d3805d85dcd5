import { Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { send } from "../api/client";
import { useOne } from "../api/queries";
import type { components } from "../api/schema";
import type { Environment } from "../api/session";
import { useColumns } from "../app/focus";
import { valueText } from "../flags/outcome";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { EnvironmentLines, heightWith } from "../ui/EnvironmentLines";
import { Filter } from "../ui/Filter";
import { type Column, Grid } from "../ui/Grid";
import { RowLink } from "../ui/RowLink";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import styles from "./Gets.module.css";
import { contextOf, type Evaluated, narrowed, reasonOf } from "./gets";

/** Gets shows what every flag serves to one context in every environment, and why. */
export default function Gets() {
  const { of = "", q, only } = useSearch({ from: "/frame/services/contexts/gets" });
  const environments = useColumns();
  const { data: known, error: missing, refetch: again } = useOne("context", of);
  const context = known && contextOf(known.resource.attributes);
  const ids = environments.map(({ id }) => id);
  const { data, error, refetch } = useQuery({
    queryKey: ["flag", "evaluations", context, ids],
    enabled: context !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => evaluateAll({ environments: ids, context }, signal),
  });
  const rows = useMemo(() => narrowed(data ?? [], { q, only }), [data, q, only]);
  const columns = useMemo(() => columnsOf(environments), [environments]);
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>
          What does <span className="mono">{of}</span> get?
        </h1>
        {data && <Tag>{rows.length}</Tag>}
        <SearchBox label="Search by id" />
        <Filter
          name="only"
          label="Only"
          any="All flags"
          choices={[
            { value: "targeted", label: "Decided by a rule" },
            { value: "differs", label: "Different between environments" },
          ]}
        />
        <span className="spring" />
        <Link to="/services/contexts" search={{ id: of } as never}>
          The context
        </Link>
      </header>
      {context && (
        <Text size="sm" className={`mono muted ellipsis ${styles.context}`} title={JSON.stringify(context)}>
          {JSON.stringify(context)}
        </Text>
      )}
      {(missing && !known) || (error && !data) ? (
        <ErrorState error={missing ?? error} retry={missing ? again : refetch} />
      ) : !data ? (
        <Loading rows={10} />
      ) : rows.length === 0 ? (
        <EmptyState title={data.length === 0 ? "There are no managed flags" : "No flag passes the filter"} />
      ) : (
        <Grid
          label="What it gets"
          columns={columns}
          count={rows.length}
          at={(index) => rows[index]}
          keyOf={(row) => row.id}
          cardHeight={heightWith(environments)}
          card={(row) => (
            <>
              <Name row={row} />
              <EnvironmentLines of={environments}>{(environment) => <Value row={row} environment={environment} />}</EnvironmentLines>
            </>
          )}
        />
      )}
    </main>
  );
}

type Document = components["schemas"]["EvaluationsDocument"];

// evaluateAll asks for all flags; the server answers with up to 1000 at once.
async function evaluateAll(body: object, signal: AbortSignal): Promise<Evaluated[]> {
  const page = async (number: number) => {
    const query = { "page[number]": number, "page[size]": 1000, "meta[total]": true };
    return (await send<Document>("POST", "/api/v1/flags/actions/evaluate", { query, body, signal })).document;
  };
  const first = await page(1);
  const rest = Array.from({ length: (first.meta.pagination.total_pages ?? 1) - 1 }, (_, index) => page(index + 2));
  return [first, ...(await Promise.all(rest))].flatMap(({ data }) => data as Evaluated[]);
}

function columnsOf(environments: Environment[]): Column<Evaluated>[] {
  return [
    { key: "flag", header: "Flag", width: "minmax(220px, 1.4fr)", cell: (row) => <Name row={row} /> },
    ...environments.map((environment) => ({
      key: environment.id,
      header: <EnvironmentName environment={environment} />,
      width: "minmax(200px, 1fr)",
      cell: (row: Evaluated) => <Value row={row} environment={environment} />,
    })),
  ];
}

function Name({ row }: { row: Evaluated }) {
  return (
    <RowLink to="/flags/$id" id={row.id} title={row.id}>
      {row.id}
    </RowLink>
  );
}

function Value({ row, environment }: { row: Evaluated; environment: Environment }) {
  const outcome = row.attributes.environments[environment.id];
  if (!outcome) return <span className="muted">–</span>;
  return (
    <>
      <span className={styles.value}>{valueText(outcome.value)}</span>
      <span className="muted">{reasonOf(outcome)}</span>
    </>
  );
}
