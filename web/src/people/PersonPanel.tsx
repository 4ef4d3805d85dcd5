import { Button, Divider, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Resource, Role } from "../api/kinds";
import { useList } from "../api/queries";
import { useMe } from "../api/session";
import { DangerButton } from "../ui/DangerButton";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { RoleSelect, roleWords } from "../ui/RoleSelect";
import { Sessions } from "../ui/Sessions";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";

/** PersonPanel shows a user with role, sessions and sign-in, or an invitation. */
export function PersonPanel({ id, close }: { id: string; close: () => void }) {
  const users = useList("user");
  const invitations = useList("invitation");
  const user = users.data?.data.find((each) => each.id === id);
  const invitation = invitations.data?.data.find((each) => each.id === id);
  return (
    <SidePanel title={user?.attributes.name ?? invitation?.attributes.email ?? "Somebody"} close={close}>
      {user ? (
        <Person user={user} close={close} />
      ) : invitation ? (
        <Invitation invitation={invitation} close={close} />
      ) : users.isPending || invitations.isPending ? (
        <Loading />
      ) : (
        <EmptyState title="No user or invitation has this id">The user may have been removed, or the invitation was used.</EmptyState>
      )}
    </SidePanel>
  );
}

function Person({ user, close }: { user: Resource<"user">; close: () => void }) {
  const writer = useWriter();
  const me = useMe();
  const { name, email, role } = user.attributes;
  const setRole = (wanted: Role) =>
    writer.attempt({
      kind: "user",
      id: user.id,
      title: `Change the role of ${name} to ${wanted.toLowerCase()}`,
      done: `${name} has the role ${wanted.toLowerCase()}.`,
      confirm: true,
      final: true,
      consequences: roleWords[wanted],
      change: (current) => ({ name: current?.name, role: wanted }),
    });
  const remove = async () => {
    const done = await writer.attempt({
      kind: "user",
      id: user.id,
      method: "DELETE",
      title: `Remove ${name}`,
      done: `${name} no longer has access.`,
      consequences: "They are signed out everywhere at once. Their changes stay, and the history keeps their name.",
      verb: "Remove",
      final: true,
    });
    if (done) close();
  };
  return (
    <Stack gap="lg">
      <Text size="sm">
        {email || <span className="muted">no e-mail yet</span>} <span className="muted">· since</span>{" "}
        <RelativeTime at={user.attributes.created_at} />
      </Text>
      <RoleGate needs="ADMIN">{(disabled) => <RoleSelect value={role} onChange={setRole} disabled={disabled} />}</RoleGate>
      <Divider />
      <Text fw={600} size="sm">
        Sessions
      </Text>
      <Sessions user={user.id} />
      <Divider />
      <ResetLink user={user} />
      <Divider />
      <Group>
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <DangerButton disabled={disabled || user.id === me.user.id} onClick={remove}>
              Remove…
            </DangerButton>
          )}
        </RoleGate>
        {user.id === me.user.id && (
          <Text size="xs" className="muted">
            This is you; somebody else can remove you.
          </Text>
        )}
      </Group>
    </Stack>
  );
}

function ResetLink({ user }: { user: Resource<"user"> }) {
  const writer = useWriter();
  const [link, setLink] = useState<string>();
  const { name } = user.attributes;
  const { submit: make, failure } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "user",
      id: user.id,
      action: "reset_password",
      title: `Create a reset link for ${name}`,
      done: "Created the link.",
      final: true,
    });
    setLink((made?.attributes as { link?: string } | undefined)?.link);
  });
  if (link)
    return (
      <ShownOnce label={`The reset link for ${name}`} secret={link}>
        Send the link yourself. It is shown only now, works once, and expires in a day. Using it ends their sessions.
      </ShownOnce>
    );
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Password
      </Text>
      <Text size="sm" className="muted">
        If they forgot their password, create a link with which they choose a new one. The old password works until the link is used.
      </Text>
      {failure && <ErrorState error={failure} />}
      <OpenLink user={user} />
      <div>
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <Button size="compact-sm" variant="default" disabled={disabled || user.attributes.email === ""} onClick={make}>
              Create a reset link
            </Button>
          )}
        </RoleGate>
      </div>
    </Stack>
  );
}

/** OpenLink shows an unused reset link, if there is one, and withdraws it. */
function OpenLink({ user }: { user: Resource<"user"> }) {
  const writer = useWriter();
  const { data } = useList("link", { "filter[user]": user.id });
  const link = data?.data[0];
  if (!link) return null;
  const { name } = user.attributes;
  const withdraw = () =>
    writer.attempt({
      kind: "link",
      id: link.id,
      method: "DELETE",
      title: `Withdraw the reset link for ${name}`,
      done: `Withdrew the reset link for ${name}.`,
      consequences: "The link stops working at once.",
      verb: "Withdraw",
      final: true,
    });
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">
        A link was created <RelativeTime at={link.attributes.created_at} />. It ends <RelativeTime at={link.attributes.expires_at} />.
      </Text>
      <RoleGate needs="ADMIN">
        {(disabled) => (
          <Button size="compact-xs" variant="default" disabled={disabled} onClick={withdraw}>
            Withdraw
          </Button>
        )}
      </RoleGate>
    </Group>
  );
}

function Invitation({ invitation, close }: { invitation: Resource<"invitation">; close: () => void }) {
  const writer = useWriter();
  const { email, role, created_at, expires_at } = invitation.attributes;
  const withdraw = async () => {
    const done = await writer.attempt({
      kind: "invitation",
      id: invitation.id,
      method: "DELETE",
      title: `Withdraw the invitation of ${email}`,
      done: `Withdrew the invitation of ${email}.`,
      consequences: "The link stops working at once.",
      verb: "Withdraw",
      final: true,
    });
    if (done) close();
  };
  return (
    <Stack>
      <Text size="sm">
        Invited as {role.toLowerCase()} <RelativeTime at={created_at} />. The link ends <RelativeTime at={expires_at} />.
      </Text>
      <Text size="sm" className="muted">
        The link was shown when it was created. If it is lost, withdraw the invitation and invite again.
      </Text>
      <div>
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <DangerButton disabled={disabled} onClick={withdraw}>
              Withdraw…
            </DangerButton>
          )}
        </RoleGate>
      </div>
    </Stack>
  );
}
