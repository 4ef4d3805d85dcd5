import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Query } from "../api/client";
import type { Kind } from "../api/kinds";
import { useList } from "../api/queries";
import { useMe } from "../api/session";
import { usageOptions } from "../api/usage";
import { ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import styles from "./Plan.module.css";
import { filled, historySentence, type Limit, sentenceFor, toneOf } from "./usage";

/** Plan shows the account's plans, and how much of each limit is used. */
export default function Plan() {
  const { account } = useMe();
  const { limits, history, isPending, error, refetch } = useLimits(account.attributes.limits);
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Plan</h1>
        {Object.entries(account.attributes.plans).map(([product, plan]) => (
          <span key={product} className="muted">
            {product} <Tag>{plan}</Tag>
          </span>
        ))}
      </header>
      {error ? (
        <ErrorState error={error} retry={refetch} />
      ) : isPending ? (
        <Loading />
      ) : (
        <ul className={`panel ${styles.limits}`} aria-label="Limits">
          {limits.map((limit) => (
            <Bar key={limit.name} limit={limit} />
          ))}
        </ul>
      )}
      <Text size="sm" className="muted">
        Runs are counted by the calendar month in UTC. A write beyond a limit is refused, and the error names the limit; existing resources
        keep working. Only the operator of the server changes plans. {history}
      </Text>
    </main>
  );
}

function Bar({ limit }: { limit: Limit }) {
  const percent = filled(limit);
  return (
    <li className={styles.limit}>
      <span className={styles.name}>
        {limit.name} <span className="muted">{limit.product}</span>
      </span>
      {percent === undefined ? (
        <span className={styles.none} />
      ) : (
        <span
          role="progressbar"
          aria-label={limit.name}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
          className={styles.bar}
          data-tone={toneOf(percent)}
        >
          <span style={{ width: `${percent}%` }} />
        </span>
      )}
      <span className={styles.used}>{sentenceFor(limit)}</span>
    </li>
  );
}

function useCount(kind: Kind, query: Query = {}): number | undefined {
  return useList(kind, { ...query, "page[size]": 1, "meta[total]": true }).data?.meta.pagination.total;
}

// useLimits reads the limits of the account's plans and the current counts.
function useLimits(allowed: Record<string, number>) {
  const { data, error, isPending, refetch } = useQuery(usageOptions);
  const counts: [string, Limit["product"], string, number | undefined][] = [
    ["Managed environments", "platform", "managed_environments", useCount("environment", { "filter[managed]": true })],
    ["Managed loggers", "logging", "managed_loggers", useCount("logger", { "filter[managed]": true })],
    ["Log groups", "logging", "groups", useCount("log_group")],
    ["Flags", "flags", "items", useCount("flag")],
    ["Configs", "config", "items", useCount("config")],
  ];
  const limits: Limit[] = data
    ? [
        { name: `Runs in ${data.period}`, product: "jobs", used: data.runs_used, maximum: data.runs_included },
        { name: "Enabled jobs", product: "jobs", used: data.active_jobs, maximum: data.active_jobs_limit },
        ...counts.flatMap(([name, product, limit, used]) =>
          used === undefined ? [] : [{ name, product, used, maximum: allowed[`${product}.${limit}`] }],
        ),
      ]
    : [];
  return { limits, history: data && historySentence(data), isPending, error: data ? undefined : error, refetch };
}
