import { Button, Group, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Resource } from "../api/kinds";
import { useOne } from "../api/queries";
import { DangerButton } from "../ui/DangerButton";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState, Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import { stateOf } from "./draft";

/** KeyPanel shows one key, and revokes or deletes it. */
export function KeyPanel({ id, close }: { id: string; close: () => void }) {
  const { data, error, refetch } = useOne("api_key", id);
  return (
    <SidePanel title={data?.resource.attributes.name ?? "Key"} close={close}>
      {error && !data ? (
        <ErrorState error={error} retry={refetch} />
      ) : !data ? (
        <Loading />
      ) : (
        <Details apiKey={data.resource} close={close} />
      )}
    </SidePanel>
  );
}

const uses = { full: "a service or a script", evaluate: "a browser or an app: evaluates flags", levels: "a URL: reads log levels" };

function Details({ apiKey, close }: { apiKey: Resource<"api_key">; close: () => void }) {
  const { access, role, scopes, expires_at, last_used_at, created_at, status } = apiKey.attributes;
  const facts: [string, ReactNode][] = [
    ["State", stateOf(apiKey.attributes)],
    ["For", uses[access]],
    ["Role", role.toLowerCase()],
    ["Environments", scopes.environments?.join(", ") ?? "all"],
    ...(access === "evaluate" ? [["Origins", scopes.origins?.join(", ") ?? "any"] as [string, ReactNode]] : []),
    ["Last used", <RelativeTime key="used" at={last_used_at} />],
    ["Expires", <RelativeTime key="expires" at={expires_at} absent="never" />],
    ["Created", <RelativeTime key="created" at={created_at} />],
  ];
  return (
    <Stack gap="lg">
      <Table withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {facts.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th fw={400} className="muted" w={130}>
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Ends apiKey={apiKey} revoked={status === "REVOKED"} close={close} />
    </Stack>
  );
}

function Ends({ apiKey, revoked, close }: { apiKey: Resource<"api_key">; revoked: boolean; close: () => void }) {
  const writer = useWriter();
  const { name } = apiKey.attributes;
  const consequences =
    "Programs that use it are refused from their next request on, and their event sockets close within a second. This cannot be undone.";
  const revoke = () =>
    writer.attempt({
      kind: "api_key",
      id: apiKey.id,
      action: "revoke",
      title: `Revoke ${name}`,
      done: `Revoked ${name}.`,
      confirm: true,
      consequences,
      verb: "Revoke",
      final: true,
    });
  const remove = async () => {
    const done = await writer.attempt({
      kind: "api_key",
      id: apiKey.id,
      method: "DELETE",
      title: `Delete ${name}`,
      done: `Deleted ${name}.`,
      consequences: revoked ? "It leaves this list; the history keeps its name." : consequences,
      final: true,
    });
    if (done) close();
  };
  return (
    <Stack gap="xs">
      <Text size="sm" className="muted">
        {revoked ? "It no longer works." : "Revoke a lost key and create a new one."}
      </Text>
      <Group>
        {!revoked && (
          <RoleGate needs="ADMIN">
            {(disabled) => (
              <DangerButton disabled={disabled} onClick={revoke}>
                Revoke…
              </DangerButton>
            )}
          </RoleGate>
        )}
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <Button size="compact-sm" variant="default" disabled={disabled} onClick={remove}>
              Delete…
            </Button>
          )}
        </RoleGate>
      </Group>
    </Stack>
  );
}
