import { Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Role } from "../api/kinds";
import { CopyAs } from "../ui/CopyAs";
import { asCommand, asGo, goText } from "../ui/copyas";
import { useDraft } from "../ui/draft";
import { FormPanel } from "../ui/FormModal";
import { RoleSelect } from "../ui/RoleSelect";
import { ShownOnce } from "../ui/ShownOnce";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";

/** Invite creates a link with which somebody can join the account. No mail is sent. */
export function Invite({ close }: { close: () => void }) {
  const writer = useWriter();
  const draft = useDraft("invitation:new", "", { email: "", role: "MEMBER" as Role });
  const attributes = draft.value;
  const { email, role } = attributes;
  const [made, setMade] = useState<{ email: string; link: string }>(); // the link is never stored
  const { submit, failure, busy } = useSubmit(async () => {
    const created = await writer.perform({
      kind: "invitation",
      id: "",
      method: "POST",
      title: `Invite ${email}`,
      done: `Invited ${email}.`,
      final: true,
      change: () => attributes,
    });
    if (!created) return;
    setMade({ email, link: (created.attributes as { link?: string }).link ?? "" });
    draft.discard();
  });
  return (
    <FormPanel title="Invite somebody" draft={draft} close={close}>
      {made ? (
        <ShownOnce label={`The link for ${made.email}`} secret={made.link}>
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
              onChange={(event) => draft.change({ email: event.currentTarget.value })}
            />
            <RoleSelect value={role} onChange={(role) => draft.change({ role })} />
            {failure && <ErrorState error={failure} />}
            <Group>
              <SubmitButton needs="ADMIN" size="compact-sm" busy={busy}>
                Create the link
              </SubmitButton>
              <CopyAs
                method="POST"
                path="/api/v1/invitations"
                body={{ data: { type: "invitation", attributes } }}
                cli={asCommand(["people", "invite", email || "EMAIL"], { role })}
                go={asGo("Invitations.Create", undefined, "InvitationDraft", { Email: goText(email), Role: goText(role) })}
              />
            </Group>
          </Stack>
        </form>
      )}
    </FormPanel>
  );
}
