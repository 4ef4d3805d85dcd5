import { Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Role } from "../api/kinds";
import { CopyAs } from "../ui/CopyAs";
import { RoleSelect } from "../ui/RoleSelect";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";

/** Invite creates a link with which somebody can join the account. No mail is sent. */
export function Invite({ close }: { close: () => void }) {
  const writer = useWriter();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("MEMBER");
  const [link, setLink] = useState<string>();
  const attributes = { email, role };
  const { submit, failure, busy } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "invitation",
      id: "",
      method: "POST",
      title: `Invite ${email}`,
      done: `Invited ${email}.`,
      final: true,
      change: () => attributes,
    });
    setLink((made?.attributes as { link?: string } | undefined)?.link);
  });
  return (
    <SidePanel title="Invite somebody" close={close}>
      {link ? (
        <ShownOnce label={`The link for ${email}`} secret={link}>
          Send the link yourself: the server sends no mail. It is shown only now, works once, and expires in 7 days.
        </ShownOnce>
      ) : (
        <form onSubmit={submit}>
          <Stack gap="sm">
            <Text size="sm" className="muted">
              You get a link to send. The person who opens it chooses a name and a password.
            </Text>
            <TextInput
              label="E-mail"
              type="email"
              size="sm"
              value={email}
              required
              error={failure?.at("/data/attributes/email")}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <RoleSelect value={role} onChange={setRole} />
            {failure && <ErrorState error={failure} />}
            <Group>
              <SubmitButton needs="ADMIN" size="compact-sm" busy={busy}>
                Create the link
              </SubmitButton>
              <CopyAs method="POST" path="/api/v1/invitations" body={{ data: { type: "invitation", attributes } }} />
            </Group>
          </Stack>
        </form>
      )}
    </SidePanel>
  );
}
