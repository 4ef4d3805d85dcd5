import { Alert, Anchor, Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import { oidcOffered } from "./signin";

interface Props {
  /** next is the path to open after a sign-in elsewhere. */
  next: string;
  problem?: string;
  onDone: () => void;
}

/** SignInForm takes a password, or an API key for this browser's session. */
export function SignInForm({ next, problem, onDone }: Props) {
  const [byKey, setByKey] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const { data: offered } = useQuery({ queryKey: ["sign-in", "methods"], queryFn: oidcOffered });

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.stopPropagation(); // the form may be shown over another
    setBusy(true);
    setFailure(undefined);
    try {
      await send("POST", "/api/v1/sessions", { body: Object.fromEntries(new FormData(event.currentTarget)), anonymous: true });
      onDone();
    } catch (failed) {
      setFailure(asApiError(failed));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form onSubmit={submit}>
      <Stack>
        {(failure ?? problem) && (
          <Alert color="red" variant="light" role="alert">
            {failure?.message ?? problem}
          </Alert>
        )}
        {byKey ? (
          <PasswordInput
            key="key"
            name="api_key"
            label="API key"
            description="It is kept for this browser's session only."
            autoComplete="off"
            required
            autoFocus
          />
        ) : (
          <>
            <TextInput name="email" type="email" label="E-mail" autoComplete="username" required autoFocus />
            <PasswordInput name="password" label="Password" autoComplete="current-password" required />
          </>
        )}
        <Button type="submit" loading={busy} fullWidth>
          Sign in
        </Button>
        {offered && (
          <>
            <Divider label="or" />
            <Button component="a" href={`/auth/oidc/start?return=${encodeURIComponent(next)}`} variant="default" fullWidth>
              Sign in with your organization
            </Button>
          </>
        )}
        <Anchor component="button" type="button" size="sm" onClick={() => setByKey(!byKey)}>
          {byKey ? "Sign in with a password" : "Sign in with an API key"}
        </Anchor>
      </Stack>
    </form>
  );
}
