import { PasswordInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { send } from "../api/client";
import { useMe } from "../api/session";
import { say } from "../ui/messages";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";

/** Password changes the password of the signed-in user. A password is not a resource, so its change cannot be undone. */
export function Password() {
  const { session } = useMe();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const { submit, failure, busy } = useSubmit(async () => {
    if (!form.current) return;
    await send("PUT", "/api/v1/users/current/password", { body: Object.fromEntries(new FormData(form.current)) });
    form.current.reset();
    await queries.invalidateQueries({ queryKey: ["session"] });
    say("Changed your password.");
  });
  if (session.attributes.api_key)
    return <Text size="sm">You are signed in with a key, which has no password. Sign in with your e-mail address to change yours.</Text>;
  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="sm">
        <PasswordInput name="current_password" label="Current password" size="sm" autoComplete="current-password" required />
        <PasswordInput
          name="password"
          label="New password"
          description="10 to 200 characters."
          size="sm"
          autoComplete="new-password"
          minLength={10}
          maxLength={200}
          required
        />
        {failure && <ErrorState error={failure} />}
        <div>
          <SubmitButton needs="VIEWER" size="compact-sm" busy={busy}>
            Change the password
          </SubmitButton>
        </div>
      </Stack>
    </form>
  );
}
