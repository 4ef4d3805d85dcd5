import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Resource } from "../api/kinds";
import { listOf } from "../api/queries";
import { type Column, Grid } from "../ui/Grid";
import { NewButton } from "../ui/NewButton";
import { RelativeTime } from "../ui/RelativeTime";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { AdminOnly } from "./AdminOnly";
import { statusLabel } from "./deliveries";
import { EnabledSwitch } from "./EnabledSwitch";
import { WebhookState } from "./WebhookState";
import { formatName, placeOfURL } from "./webhook";
import styles from "./webhooks.module.css";

type Webhook = Resource<"webhook">;

const refetchInterval = 10_000; // deliveries send no events

/** WebhookList shows the systems that receive events. */
export default function WebhookList() {
  const navigate = useNavigate();
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>Webhooks</h1>
        <SearchBox label="Search webhooks" />
        <span className="spring" />
        <NewButton needs="ADMIN" onClick={() => navigate({ to: "/webhooks/new" })}>
          New webhook
        </NewButton>
      </header>
      <AdminOnly>{() => <List />}</AdminOnly>
    </main>
  );
}

function List() {
  const { q } = useSearch({ from: "/frame/webhooks" });
  const navigate = useNavigate();
  const query = { ...listOf("webhook", { "filter[search]": q, "page[size]": 200 }), placeholderData: keepPreviousData, refetchInterval };
  const { data, error, refetch } = useQuery(query);
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.data;
  if (rows.length === 0) return q ? <EmptyState title={`No webhook has “${q}” in its name`} /> : <NoWebhooks />;
  return (
    <Grid
      label="Webhooks"
      columns={columns}
      count={rows.length}
      at={(index) => rows[index]}
      keyOf={({ id }) => id}
      onOpen={({ id }) => navigate({ to: "/webhooks/$id", params: { id } })}
      dimmed={({ attributes }) => !attributes.enabled}
      card={(webhook) => <Card webhook={webhook} />}
      cardHeight={92}
    />
  );
}

const columns: Column<Webhook>[] = [
  { key: "name", header: "Name", width: "minmax(150px, 1.2fr)", cell: (webhook) => <Name webhook={webhook} /> },
  { key: "state", header: "State", width: "90px", cell: ({ attributes }) => <WebhookState state={attributes.state} /> },
  { key: "format", header: "Format", width: "150px", cell: ({ attributes }) => formatName(attributes.format) },
  {
    key: "url",
    header: "Target",
    width: "minmax(170px, 1.2fr)",
    cell: ({ attributes }) => <span className="mono ellipsis">{placeOfURL(attributes.url)}</span>,
  },
  { key: "events", header: "Events", width: "minmax(170px, 1.6fr)", cell: (webhook) => <Events webhook={webhook} /> },
  { key: "last", header: "Last delivery", width: "minmax(170px, 1fr)", cell: (webhook) => <Last webhook={webhook} /> },
  { key: "enabled", header: "Enabled", width: "74px", cell: (webhook) => <EnabledSwitch webhook={webhook} inGrid /> },
];

function Name({ webhook: { id, attributes } }: { webhook: Webhook }) {
  return (
    <Link to="/webhooks/$id" params={{ id }} tabIndex={-1} className={`${styles.name} ellipsis`}>
      {attributes.name}
    </Link>
  );
}

function Events({ webhook: { attributes } }: { webhook: Webhook }) {
  const text = attributes.events.join(", ");
  return (
    <span className="mono ellipsis" title={text}>
      {text}
    </span>
  );
}

function Last({ webhook: { attributes } }: { webhook: Webhook }) {
  const last = attributes.last_delivery;
  if (!last) return <span className="muted">nothing sent</span>;
  return (
    <span className="ellipsis">
      {statusLabel({ status: last.status, attempts: [] })}{" "}
      <span className="muted">
        <RelativeTime at={last.created_at} />
      </span>
    </span>
  );
}

function Card({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <div className={styles.cardline}>
        <span className="ellipsis">
          <Name webhook={webhook} />
        </span>
        <WebhookState state={webhook.attributes.state} />
        <EnabledSwitch webhook={webhook} inGrid />
      </div>
      <div className={styles.cardline}>
        <span className="muted">{formatName(webhook.attributes.format)}</span>
        <Last webhook={webhook} />
      </div>
      <div className={styles.cardline}>
        <Events webhook={webhook} />
      </div>
    </>
  );
}

function NoWebhooks() {
  const navigate = useNavigate();
  const code = `signalbox webhooks create 'On call' https://hooks.example.com/signalbox \\
  --events 'job.*,change.flag' --url ${window.location.origin}`;
  return (
    <EmptyState
      title="No webhooks yet"
      code={code}
      action={
        <NewButton needs="ADMIN" onClick={() => navigate({ to: "/webhooks/new" })}>
          New webhook
        </NewButton>
      }
    >
      A webhook tells another system what happens: a failing job, a changed flag, an expired level. It sends to a chat, a pager or your own
      program, and keeps every delivery with its answer. Create one here, or run:
    </EmptyState>
  );
}
