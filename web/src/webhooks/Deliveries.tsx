import { Button, Group } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { Suspense, useMemo, useState } from "react";
import type { Resource } from "../api/kinds";
import { useSetSearch } from "../app/focus";
import { Filter } from "../ui/Filter";
import { type Column, Grid } from "../ui/Grid";
import { later } from "../ui/later";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { RowButton } from "../ui/RowButton";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { DeliveryPanel } from "./DeliveryPanel";
import { type Delivery, lastAttempt, statuses, statusLabel } from "./deliveries";
import { useDeliveries } from "./useDeliveries";
import styles from "./webhooks.module.css";

const SendAgain = later(() => import("./SendAgain"));

/** Deliveries is the table of a webhook's deliveries, the newest first. */
export function Deliveries({ webhook }: { webhook: Resource<"webhook"> }) {
  const { status, delivery: selected } = useSearch({ from: "/frame/webhooks/$id" });
  const setSearch = useSetSearch();
  const deliveries = useDeliveries(webhook.id, status);
  const [sending, setSending] = useState(false);
  const rows = useMemo(() => deliveries.data?.pages.flatMap(({ data }) => data) ?? [], [deliveries.data]);
  const open = ({ id }: Delivery) => setSearch({ delivery: id });
  return (
    <>
      <Group gap="xs" mb="xs">
        <Filter name="status" label="State" any="Any state" choices={statuses} />
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <Button size="compact-sm" variant="default" disabled={disabled} onClick={() => setSending(true)}>
              Send again…
            </Button>
          )}
        </RoleGate>
      </Group>
      {deliveries.isPending && <Loading rows={6} />}
      {deliveries.error && !deliveries.data && <ErrorState error={deliveries.error} retry={() => deliveries.refetch()} />}
      {deliveries.data && rows.length === 0 && <Nothing isFiltered={status !== undefined} />}
      {rows.length > 0 && (
        <div className={styles.deliveries}>
          <Grid
            label="Deliveries"
            columns={columnsFor(open)}
            count={rows.length}
            at={(index) => rows[index]}
            keyOf={({ id }) => id}
            onOpen={open}
            onRange={(_, to) => {
              if (to >= rows.length - 5 && deliveries.hasNextPage && !deliveries.isFetching) void deliveries.fetchNextPage();
            }}
            card={(delivery) => <Card delivery={delivery} open={open} />}
            cardHeight={66}
          />
        </div>
      )}
      {selected && (
        <DeliveryPanel
          key={selected}
          webhook={webhook}
          delivery={rows.find(({ id }) => id === selected)}
          isPending={deliveries.isFetching}
          close={() => setSearch({ delivery: undefined })}
        />
      )}
      <Suspense>{sending && <SendAgain webhook={webhook} close={() => setSending(false)} />}</Suspense>
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No delivery passes the filter" />;
  return <EmptyState title="Nothing was sent yet">Send a test shows at once what the target answers.</EmptyState>;
}

export function DeliveryStatus({ delivery: { attributes } }: { delivery: Delivery }) {
  return (
    <span className={styles.status} data-status={attributes.status}>
      {statusLabel(attributes)}
    </span>
  );
}

function columnsFor(open: (delivery: Delivery) => void): Column<Delivery>[] {
  return [
    {
      key: "status",
      header: "State",
      width: "minmax(140px, 1fr)",
      cell: (delivery) => (
        <RowButton onClick={() => open(delivery)}>
          <DeliveryStatus delivery={delivery} />
        </RowButton>
      ),
    },
    { key: "type", header: "Event", width: "minmax(150px, 1.4fr)", cell: (delivery) => <Event delivery={delivery} /> },
    { key: "answer", header: "Last answer", width: "minmax(170px, 1.6fr)", cell: (delivery) => <Answer delivery={delivery} /> },
    { key: "attempts", header: "Attempts", width: "84px", cell: ({ attributes }) => attributes.attempts.length },
    {
      key: "created",
      header: "Happened",
      width: "minmax(100px, 1fr)",
      cell: ({ attributes }) => <RelativeTime at={attributes.created_at} />,
    },
    {
      key: "next",
      header: "Next attempt",
      width: "minmax(100px, 1fr)",
      cell: ({ attributes }) => <RelativeTime at={attributes.next_attempt_at} absent="–" />,
    },
  ];
}

/** Event shows the type of an event, and how many events the message contains. */
function Event({ delivery: { attributes } }: { delivery: Delivery }) {
  const more = attributes.events - 1;
  return (
    <span className="ellipsis">
      <span className="mono">{attributes.type}</span> {more > 0 && <span className="muted">and {more} more</span>}
    </span>
  );
}

function Answer({ delivery: { attributes } }: { delivery: Delivery }) {
  const last = lastAttempt(attributes);
  if (!last) return <span className="muted">–</span>;
  return (
    <span className="ellipsis" title={last.outcome}>
      {last.outcome} <span className="muted">{last.took}</span>
    </span>
  );
}

function Card({ delivery, open }: { delivery: Delivery; open: (delivery: Delivery) => void }) {
  return (
    <RowButton isCard onClick={() => open(delivery)}>
      <div className={styles.cardline}>
        <DeliveryStatus delivery={delivery} />
        <RelativeTime at={delivery.attributes.created_at} />
      </div>
      <div className={styles.cardline}>
        <Event delivery={delivery} />
        <Answer delivery={delivery} />
      </div>
    </RowButton>
  );
}
