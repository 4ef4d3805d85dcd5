import { Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useAll, useList, useOne } from "../api/queries";
import { DangerButton } from "../ui/DangerButton";
import { clientOf } from "../ui/device";
import { LevelPill } from "../ui/LevelPill";
import { RelativeTime, useNow } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import { useWriter } from "../ui/WriteProvider";
import { type Applied, appliedBy, isPending, missedBy } from "./applies";
import styles from "./ServicePanel.module.css";
import { useConnections } from "./useReports";

/** ServicePanel shows one service: its connections with their versions, the levels that it uses and the flags that it declares. */
export function ServicePanel({ id, close }: { id: string; close: () => void }) {
  const { data, error, refetch } = useOne("service", id);
  const writer = useWriter();
  const remove = async () => {
    const done = await writer.attempt({
      kind: "service",
      id,
      method: "DELETE",
      title: `Delete ${id}`,
      done: `Deleted ${id}.`,
      consequences: "It leaves this list, and comes back when it reports again.",
    });
    if (done) close();
  };
  return (
    <SidePanel title={data?.resource.attributes.name ?? id} close={close}>
      {error && !data ? (
        <ErrorState error={error} retry={refetch} />
      ) : !data ? (
        <Loading />
      ) : (
        <Stack gap="lg">
          <Connections service={id} />
          <Levels service={id} />
          <Flags service={id} />
          <div>
            <RoleGate needs="MEMBER">
              {(disabled) => (
                <DangerButton disabled={disabled} onClick={remove}>
                  Delete…
                </DangerButton>
              )}
            </RoleGate>
          </div>
        </Stack>
      )}
    </SidePanel>
  );
}

function Part({ title, note, children }: { title: string; note?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.part} aria-label={title}>
      <h3>
        {title} <span className="muted">{note}</span>
      </h3>
      {children}
    </section>
  );
}

function Connections({ service }: { service: string }) {
  const { data = [] } = useConnections();
  const { data: changes } = useList("change", { "page[size]": 100 });
  const now = useNow(10);
  const own = data.filter(({ attributes }) => attributes.service === service);
  if (own.length === 0)
    return (
      <Part title="Connected now">
        <Text size="sm" className="muted">
          Not connected: it polls, does not send its name, or is down.
        </Text>
      </Part>
    );
  return (
    <Part title="Connected now" note={own.length}>
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Environment</Table.Th>
            <Table.Th>Client</Table.Th>
            <Table.Th>Connected</Table.Th>
            <Table.Th>Changes</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {own.map(({ id, attributes }) => (
            <Table.Tr key={id}>
              <Table.Td>{attributes.environment ?? "–"}</Table.Td>
              <Table.Td title={attributes.client}>
                {clientOf(attributes.client).name} <span className="muted">{clientOf(attributes.client).version}</span>
              </Table.Td>
              <Table.Td title={`Connected to ${attributes.node}`}>
                <RelativeTime at={attributes.connected_at} />
              </Table.Td>
              <Table.Td>
                <Missed count={missedBy(attributes.seq, changes?.data ?? [], now)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Part>
  );
}

function Missed({ count }: { count: number }) {
  if (count === 0) return <Tag tone="good">up to date</Tag>;
  return <Tag tone="warning">{count === 1 ? "1 change behind" : `${count} changes behind`}</Tag>;
}

/** shown is the number of rows of a part; the list of the whole is one click away. */
const shown = 12;

function Levels({ service }: { service: string }) {
  const { data } = useAll("logger", { "filter[service]": service });
  if (!data) return <Loading rows={3} />;
  const rows = appliedBy(service, data);
  const pending = rows.filter(isPending).length;
  const note = rows.length === 0 ? undefined : pending > 0 ? `${pending} of ${rows.length} not applied` : `${rows.length}, all applied`;
  return (
    <Part title="Log levels" note={note}>
      {rows.length === 0 ? (
        <Text size="sm" className="muted">
          It reported no logger.
        </Text>
      ) : (
        <>
          <Table className={styles.table}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Logger</Table.Th>
                <Table.Th>Environment</Table.Th>
                <Table.Th>Uses</Table.Th>
                <Table.Th>Reported</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.slice(0, shown).map((row) => (
                <Level key={`${row.id} ${row.environment}`} row={row} />
              ))}
            </Table.Tbody>
          </Table>
          {rows.length > shown && (
            <Text size="sm">
              <Link to="/loggers" search={{ service, view: "list" } as never}>
                All loggers of {service}
              </Link>
            </Text>
          )}
        </>
      )}
    </Part>
  );
}

function Level({ row }: { row: Applied }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/loggers/$id" params={{ id: row.id }} className="mono">
          {row.id}
        </Link>
      </Table.Td>
      <Table.Td>{row.environment}</Table.Td>
      <Table.Td>
        <span className={styles.level}>
          <LevelPill level={row.reported as never} faint={row.wanted === undefined} />
          {isPending(row) && <Tag tone="warning">should be {row.wanted}</Tag>}
          {row.wanted === undefined && <span className="muted">its own</span>}
        </span>
      </Table.Td>
      <Table.Td>
        <RelativeTime at={row.lastSeen} />
      </Table.Td>
    </Table.Tr>
  );
}

function Flags({ service }: { service: string }) {
  const { data } = useList("flag_source", { "filter[service]": service, sort: "-last_seen", "page[size]": 200, "meta[total]": true });
  if (!data) return <Loading rows={3} />;
  const total = data.meta.pagination.total ?? data.data.length;
  return (
    <Part title="Flags" note={total > 0 ? `${total} declared` : undefined}>
      {total === 0 ? (
        <Text size="sm" className="muted">
          It declared no flag.
        </Text>
      ) : (
        <Table className={styles.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Flag</Table.Th>
              <Table.Th>Environment</Table.Th>
              <Table.Th>Default in the code</Table.Th>
              <Table.Th>Reported</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.data.slice(0, shown).map(({ attributes: { flag, environment, declared_default, last_seen } }) => (
              <Table.Tr key={`${flag} ${environment}`}>
                <Table.Td>
                  <Link to="/flags/$id" params={{ id: flag }} className="mono">
                    {flag}
                  </Link>
                </Table.Td>
                <Table.Td>{environment}</Table.Td>
                <Table.Td className="mono">
                  <span className="ellipsis">{JSON.stringify(declared_default)}</span>
                </Table.Td>
                <Table.Td>
                  <RelativeTime at={last_seen} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {total > shown && (
        <Text size="sm" className="muted">
          and {total - shown} more
        </Text>
      )}
    </Part>
  );
}
