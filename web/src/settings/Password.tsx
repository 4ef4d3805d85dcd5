import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import { useMe } from "../api/session";
import { say } from "../ui/messages";
import { RoleGate } from "../ui/RoleGate";
import { ErrorState } from "../ui/states";

/** Password changes the password of the signed-in user. A password is not a resource, so its change cannot be undone. */
export function Password() {
  const { session } = useMe();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<ApiError>();
  if (session.attributes.api_key)
    return <Text size="sm">You are signed in with a key, which has no password. Sign in with your e-mail address to change yours.</Text>;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    setFailure(undefined);
    try {
      await send("PUT", "/api/v1/users/current/password", { body: Object.fromEntries(new FormData(form)) });
      form.reset();
      await queries.invalidateQueries({ queryKey: ["session"] });
      say("Changed your password.");
    } catch (problem) {
      setFailure(asApiError(problem));
    }
  };
  return (
    <form onSubmit={submit}>
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
          <RoleGate needs="VIEWER">
            {(disabled) => (
              <Button type="submit" size="compact-sm" disabled={disabled}>
                Change the password
              </Button>
            )}
          </RoleGate>
        </div>
      </Stack>
    </form>
  );
}
