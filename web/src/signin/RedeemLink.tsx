import { Alert, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useRouter } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import { SignInLayout } from "./SignInLayout";

const pages = {
  "/setup": {
    title: "Set up Signalbox",
    text: "You become the owner of this account.",
    email: true,
    name: true,
    button: "Create the owner",
  },
  "/join": { title: "Join Signalbox", text: "You were invited. Choose how you sign in.", email: false, name: true, button: "Join" },
  "/reset": { title: "Choose a new password", text: "Your other sessions end.", email: false, name: false, button: "Set the password" },
};

/** RedeemLink is the page of set-up, invitation and reset links, which sign in. */
export default function RedeemLink() {
  const location = useLocation();
  const [{ pathname, search }] = useState(location); // it changes before the page is left
  const { token } = search as { token?: string };
  const page = pages[pathname as keyof typeof pages];
  const router = useRouter();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = Object.fromEntries([...new FormData(event.currentTarget)].filter(([, value]) => value !== ""));
    setBusy(true);
    setFailure(undefined);
    try {
      await send("POST", "/api/v1/links/redeem", { body: { token, ...fields }, anonymous: true });
      queries.clear(); // it has the errors of requests that were sent before the sign-in
      await router.navigate({ to: "/" });
    } catch (problem) {
      setFailure(asApiError(problem));
    } finally {
      setBusy(false);
    }
  };

  return (
    <SignInLayout title={page.title}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" className="muted">
            {page.text}
          </Text>
          {failure && (
            <Alert color="red" variant="light" role="alert">
              {failure.status === 404 ? "This link was used or has expired. Ask for a new one." : failure.message}
            </Alert>
          )}
          {page.email && <TextInput name="email" type="email" label="E-mail" autoComplete="username" required autoFocus />}
          {page.name && <TextInput name="name" label="Name" autoComplete="name" maxLength={255} />}
          <PasswordInput
            name="password"
            label="Password"
            description="10 to 200 characters."
            autoComplete="new-password"
            minLength={10}
            maxLength={200}
            required
          />
          <Button type="submit" loading={busy} disabled={!token}>
            {page.button}
          </Button>
        </Stack>
      </form>
    </SignInLayout>
  );
}
