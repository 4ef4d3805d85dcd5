import { Button, Group, Stack, Text } from "@mantine/core";
import type { Resource } from "../api/kinds";
import { useList } from "../api/queries";
import { useMe } from "../api/session";
import { device } from "./device";
import { RelativeTime } from "./RelativeTime";
import { RoleGate } from "./RoleGate";
import { ErrorState, Loading } from "./states";
import { Tag } from "./Tag";
import { useWriter } from "./WriteProvider";

/** Sessions lists and ends the sessions of a person; without a person, the sessions of the caller. */
export function Sessions({ user }: { user?: string }) {
  const { data, error, refetch } = useList("session", { "filter[user]": user, sort: "-last_used_at" });
  const me = useMe();
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading rows={2} />;
  if (data.data.length === 0)
    return (
      <Text size="sm" className="muted">
        Not signed in anywhere.
      </Text>
    );
  return (
    <Stack gap="sm">
      {data.data.map((session) => (
        <Session key={session.id} session={session} own={session.id === me.session.id} />
      ))}
    </Stack>
  );
}

function Session({ session, own }: { session: Resource<"session">; own: boolean }) {
  const writer = useWriter();
  const { client, api_key, last_used_at, expires_at } = session.attributes;
  const end = () =>
    writer.attempt({
      kind: "session",
      id: session.id,
      method: "DELETE",
      title: "End the session",
      done: "Ended the session.",
      consequences: `${device(client)} is signed out at once.`,
      verb: "End it",
      final: true,
    });
  return (
    <Group justify="space-between" wrap="nowrap">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" title={client}>
          {device(client)} {own && <Tag tone="good">this one</Tag>} {api_key && <Tag>by a key</Tag>}
        </Text>
        <Text size="xs" className="muted">
          used <RelativeTime at={last_used_at} />, ends <RelativeTime at={expires_at} /> at the latest
        </Text>
      </div>
      {!own && (
        <RoleGate needs="VIEWER">
          {(disabled) => (
            <Button size="compact-xs" variant="default" disabled={disabled} onClick={end}>
              End…
            </Button>
          )}
        </RoleGate>
      )}
    </Group>
  );
}
