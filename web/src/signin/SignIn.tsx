import { Alert, Anchor, Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import { meOptions } from "../api/session";
import { Door } from "./Door";
import { localPath, oidcOffered, sentenceFor } from "./signin";

/** SignIn takes a password, or an API key for this browser's session. */
export default function SignIn() {
  const { next, error } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const queries = useQueryClient();
  const [byKey, setByKey] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const { data: offered } = useQuery({ queryKey: ["sign-in", "methods"], queryFn: oidcOffered });

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await send("POST", "/api/v1/sessions", { body: Object.fromEntries(new FormData(event.currentTarget)) });
      queries.removeQueries(meOptions);
      router.history.push(localPath(next));
    } catch (problem) {
      setFailure(asApiError(problem));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Door title="Sign in to Signalbox">
      <form onSubmit={submit}>
        <Stack>
          {(failure || error) && (
            <Alert color="red" variant="light" role="alert">
              {failure?.message ?? sentenceFor(error)}
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
              <Button component="a" href={`/auth/oidc/start?return=${encodeURIComponent(localPath(next))}`} variant="default" fullWidth>
                Sign in with your organization
              </Button>
            </>
          )}
          <Anchor component="button" type="button" size="sm" onClick={() => setByKey(!byKey)}>
            {byKey ? "Sign in with a password" : "Sign in with an API key"}
          </Anchor>
        </Stack>
      </form>
    </Door>
  );
}
