import { Button, Code, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import { useMe } from "../api/session";
import { RelativeTime } from "../ui/RelativeTime";
import { ShownOnce } from "../ui/ShownOnce";
import { ErrorState } from "../ui/states";

interface Made {
  data: { attributes: { code: string; expires_at: string } };
}

/** Terminal shows a code that signs the command line in. The code is created on request; a new code replaces the old one. */
export default function Terminal() {
  const { user, session } = useMe();
  const [made, setMade] = useState<Made>();
  const [failure, setFailure] = useState<ApiError>();
  const make = () => {
    setFailure(undefined);
    send<Made>("POST", "/api/v1/sessions/current/codes").then(
      ({ document }) => setMade(document),
      (problem) => setFailure(asApiError(problem)),
    );
  };
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Sign in a terminal</h1>
      </header>
      <Stack gap="sm" align="flex-start" maw="34rem">
        <Text size="sm">
          Run <Code>signalbox login {window.location.origin}</Code> where you need it, also on another machine, and type the code there. The
          command line is then signed in as {user.attributes.name}, and is listed with your sessions in the settings.
        </Text>
        {session.attributes.api_key ? (
          <Text size="sm">You are signed in with an API key. Give the key itself to signalbox login.</Text>
        ) : (
          <Button size="sm" variant={made ? "default" : "filled"} onClick={make}>
            {made ? "Show another code" : "Show a code"}
          </Button>
        )}
        {failure && <ErrorState error={failure} />}
        {made && (
          <ShownOnce key={made.data.attributes.code} label="The code" secret={made.data.attributes.code}>
            It works once and ends <RelativeTime at={made.data.attributes.expires_at} />. Type it only into your own terminal, because the
            terminal will act as you.
          </ShownOnce>
        )}
      </Stack>
    </main>
  );
}
