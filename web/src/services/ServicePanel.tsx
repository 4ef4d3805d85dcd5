import { Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { placeOf } from "../api/kinds";
import { useList, useOne } from "../api/queries";
import { DangerButton } from "../ui/DangerButton";
import { clientOf } from "../ui/device";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState, Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import { useConnections } from "./useReports";

/** ServicePanel shows one service: its connections and its last reports. */
export function ServicePanel({ id, close }: { id: string; close: () => void }) {
  const { data, error, refetch } = useOne("service", id);
  const writer = useWriter();
  const remove = async () => {
    const done = await writer.attempt({
      kind: "service",
      id,
      method: "DELETE",
      title: `Delete ${id}`,
      done: `${id} is deleted.`,
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
          <Reported service={id} />
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

function Connections({ service }: { service: string }) {
  const { data = [] } = useConnections();
  const { data: changes } = useList("change", { "page[size]": 1 });
  const newest = Number(changes?.data[0]?.id ?? 0);
  const own = data.filter(({ attributes }) => attributes.service === service);
  return (
    <section>
      <Text fw={600} size="sm">
        Connected now
      </Text>
      {own.length === 0 && (
        <Text size="sm" className="muted">
          Not connected: it polls, does not send its name, or is down.
        </Text>
      )}
      <Table withRowBorders={false} verticalSpacing={3}>
        <Table.Tbody>
          {own.map(({ id, attributes }) => (
            <Table.Tr key={id}>
              <Table.Td>{attributes.environment ?? "–"}</Table.Td>
              <Table.Td title={attributes.client}>
                {clientOf(attributes.client).name} {clientOf(attributes.client).version}
              </Table.Td>
              <Table.Td>
                since <RelativeTime at={attributes.connected_at} />
              </Table.Td>
              <Table.Td className="muted" title={`Connected to ${attributes.node}`}>
                {applied(attributes.seq, newest)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

// applied says whether a connection was told of every change; one may be on its way.
function applied(seq: number, newest: number): string {
  if (newest === 0 || seq >= newest) return "has every change";
  return `${newest - seq} ${newest - seq === 1 ? "change" : "changes"} behind`;
}

function Reported({ service }: { service: string }) {
  const query = { "filter[service]": service, sort: "-last_seen", "page[size]": 25 };
  const { data: loggers } = useList("logger_source", query);
  const { data: flags } = useList("flag_source", query);
  const rows = [
    ...(loggers?.data ?? []).map(({ attributes: a }) => ({ kind: "logger", id: a.logger, says: a.resolved_level as string, ...a })),
    ...(flags?.data ?? []).map(({ attributes: a }) => ({ kind: "flag", id: a.flag, says: JSON.stringify(a.declared_default), ...a })),
  ].toSorted((one, other) => other.last_seen.localeCompare(one.last_seen));
  return (
    <section>
      <Text fw={600} size="sm">
        Reported last
      </Text>
      {rows.length === 0 && (
        <Text size="sm" className="muted">
          It reported neither a logger nor a flag.
        </Text>
      )}
      <Table withRowBorders={false} verticalSpacing={3}>
        <Table.Tbody>
          {rows.slice(0, 25).map((row) => (
            <Table.Tr key={`${row.kind}:${row.id}:${row.environment}`}>
              <Table.Td>
                <span className="muted">{row.kind}</span>{" "}
                <Link to={placeOf(row.kind, row.id) ?? "/"} className="mono">
                  {row.id}
                </Link>
              </Table.Td>
              <Table.Td className="mono">{row.says}</Table.Td>
              <Table.Td>{row.environment}</Table.Td>
              <Table.Td>
                <RelativeTime at={row.last_seen} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
