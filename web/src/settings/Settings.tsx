import { Button, Group, NativeSelect, Stack, Text, TextInput, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useOne } from "../api/queries";
import { inOrder, useEnvironments, useMe } from "../api/session";
import { useDraft } from "../ui/draft";
import { EnvironmentDot } from "../ui/EnvironmentDot";
import { Restored } from "../ui/FormModal";
import { OrderList } from "../ui/OrderList";
import { useRefusal } from "../ui/RoleGate";
import { Sessions } from "../ui/Sessions";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState, Loading } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { Password } from "./Password";
import styles from "./Settings.module.css";

/** Settings has the settings of the account and of the signed-in user. */
export default function Settings() {
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Settings</h1>
      </header>
      <div className={styles.columns}>
        <div className={styles.column}>
          <Part title="Account" text="Everybody sees its name.">
            <AccountName />
          </Part>
          <Part title="Theme" text="Kept in this browser.">
            <Theme />
          </Part>
          <Part
            title="My order of environments"
            text="The order of the columns that you see. Until you change it, it is the account's order."
          >
            <MyOrder />
          </Part>
        </div>
        <div className={styles.column}>
          <Part title="My password" text="Changing it ends your other sessions.">
            <Password />
          </Part>
          <Part title="My sessions" text="Where you are signed in.">
            <Sessions />
          </Part>
        </div>
      </div>
    </main>
  );
}

function Part({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <section className="panel" aria-label={title}>
      <h2 className={styles.title}>{title}</h2>
      <Text size="sm" className="muted" mb="sm">
        {text}
      </Text>
      {children}
    </section>
  );
}

function AccountName() {
  const { account } = useMe();
  const writer = useWriter();
  const queries = useQueryClient();
  const current = account.attributes.name;
  const draft = useDraft("account:name", current, { name: current });
  const { name } = draft.value;
  const { submit, failure, busy } = useSubmit(async () => {
    const written = await writer.perform({
      kind: "account",
      id: account.id,
      title: "Rename the account",
      done: `The account is called ${name}.`,
      change: () => ({ name }),
    });
    if (!written) return;
    draft.discard();
    await queries.invalidateQueries({ queryKey: ["settings"] });
  });
  return (
    <form onSubmit={submit}>
      {draft.isOutdated ? <Renamed name={current} discard={draft.discard} /> : <Restored draft={draft} />}
      <Stack gap="sm">
        <TextInput
          label="Name"
          size="sm"
          required
          maxLength={255}
          value={name}
          error={failure?.at("/data/attributes/name")}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        {failure && <ErrorState error={failure} />}
        <div>
          <SubmitButton needs="ADMIN" size="compact-sm" busy={busy} disabled={name === current}>
            Save
          </SubmitButton>
        </div>
      </Stack>
    </form>
  );
}

function Renamed({ name, discard }: { name: string; discard: () => void }) {
  return (
    <Group gap="xs" mb="xs">
      <Text size="xs" role="status">
        Somebody renamed it to {name} while you were typing. Saving replaces that.
      </Text>
      <Button size="compact-xs" variant="default" onClick={discard}>
        Discard mine
      </Button>
    </Group>
  );
}

function Theme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <NativeSelect
      size="sm"
      aria-label="Theme"
      value={colorScheme}
      onChange={(event) => setColorScheme(event.currentTarget.value as typeof colorScheme)}
      data={[
        { value: "auto", label: "Same as the system" },
        { value: "light", label: "Light" },
        { value: "dark", label: "Dark" },
      ]}
    />
  );
}

function MyOrder() {
  const environments = useEnvironments().filter(({ managed, classification }) => managed || classification === "STANDARD");
  const { data, error, refetch } = useOne("user_settings", "current");
  const writer = useWriter();
  const queries = useQueryClient();
  const refusal = useRefusal("VIEWER");
  const put = async (order: string[] | null) => {
    await writer.attempt({
      kind: "user_settings",
      id: "current",
      title: "Put my environments in order",
      done: order ? `Your order is ${order.join(", ")}.` : "Your order is the account's again.",
      final: true,
      change: (current) => ({ ...current, environment_order: order ?? undefined }),
    });
    await queries.invalidateQueries({ queryKey: ["settings"] });
  };
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading rows={3} />;
  return (
    <Stack gap="sm">
      <OrderList
        label="My environments in order"
        items={inOrder(environments, data.resource.attributes.environment_order)}
        disabled={refusal !== undefined}
        onOrder={put}
      >
        {(environment) => (
          <Group gap={8}>
            <EnvironmentDot environment={environment} /> {environment.name}
          </Group>
        )}
      </OrderList>
      <div>
        <Button size="compact-sm" variant="default" disabled={refusal !== undefined} onClick={() => put(null)}>
          Use the account's order
        </Button>
      </div>
    </Stack>
  );
}
