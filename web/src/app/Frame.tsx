import { ActionIcon, Menu, NativeSelect, Tooltip, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { send } from "../api/client";
import { useLive } from "../api/live";
import { useEnvironments, useMe } from "../api/session";
import { IconMenu2, IconMoon, IconSearch, IconSun } from "../ui/icons";
import { RelativeTime } from "../ui/RelativeTime";
import { Loading } from "../ui/states";
import { WriteProvider } from "../ui/WriteProvider";
import { useApp } from "./context";
import styles from "./Frame.module.css";
import { useFocus } from "./focus";
import { useKeys } from "./keys";
import { places } from "./places";

const Palette = lazy(() => import("./Palette"));
const KeyHelp = lazy(() => import("./KeyHelp"));

/** Frame is around every screen: the rail, the environment in focus, search, the connection, the user. */
export function Frame() {
  const { live } = useApp();
  const [shown, setShown] = useState<"palette" | "keys">();
  useEffect(() => {
    live.start();
    return () => live.stop();
  }, [live]);
  useKeys({ palette: () => setShown("palette"), help: () => setShown("keys") });
  const close = () => setShown(undefined);
  return (
    <WriteProvider>
      <div className={styles.frame}>
        <Rail />
        <div className={styles.main}>
          <TopBar onSearch={() => setShown("palette")} onKeys={() => setShown("keys")} />
          <div className={styles.content}>
            <Suspense fallback={<Loading />}>
              <Outlet />
            </Suspense>
          </div>
        </div>
      </div>
      <Suspense>
        {shown === "palette" && <Palette close={close} />}
        {shown === "keys" && <KeyHelp close={close} />}
      </Suspense>
    </WriteProvider>
  );
}

function Rail() {
  return (
    <nav className={styles.rail} aria-label="Main">
      <Link to="/" className={styles.brand}>
        <img src="/favicon.svg" alt="" width="22" height="22" /> Signalbox
      </Link>
      {places.map(({ to, label, icon: Icon, second }) => (
        <Link
          key={to}
          to={to}
          className={styles.place}
          activeOptions={{ exact: to === "/", includeSearch: false }}
          data-second={second || undefined}
        >
          <Icon size={17} stroke={1.7} aria-hidden="true" /> {label}
        </Link>
      ))}
    </nav>
  );
}

function TopBar({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }) {
  return (
    <header className={styles.top}>
      <PlacesMenu />
      <EnvironmentFocus />
      <button type="button" className={styles.search} onClick={onSearch}>
        <IconSearch size={15} aria-hidden="true" />
        <span>Search</span>
        <kbd>Ctrl K</kbd>
      </button>
      <span className={styles.spring} />
      <Connection />
      <ThemeSwitch />
      <UserMenu onKeys={onKeys} />
    </header>
  );
}

function PlacesMenu() {
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Screens" className={styles.burger}>
          <IconMenu2 size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {places.map(({ to, label, icon: Icon }) => (
          <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={16} />}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function EnvironmentFocus() {
  const environments = useEnvironments();
  const [focus, setFocus] = useFocus();
  const data = [{ value: "", label: "All environments" }, ...environments.map(({ id, name }) => ({ value: id, label: name }))];
  return (
    <NativeSelect
      aria-label="Environment in focus"
      size="xs"
      data={data}
      value={focus ?? ""}
      onChange={(event) => setFocus(event.currentTarget.value || undefined)}
    />
  );
}

const words = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", offline: "Offline" };

function Connection() {
  const { live } = useApp();
  const { status, since } = useLive(live);
  const label =
    status === "live"
      ? "Changes by anybody appear here within a second."
      : "What you see may be old; the console keeps trying to reach the server.";
  return (
    <Tooltip label={label}>
      <output className={styles.connection} data-status={status}>
        <span className="dot" aria-hidden="true" /> {words[status]}
        {status === "offline" && (
          <span className={styles.since}>
            {" "}
            since <RelativeTime at={since.toISOString()} />
          </span>
        )}
      </output>
    </Tooltip>
  );
}

function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = { auto: "light", light: "dark", dark: "auto" } as const;
  const names = { auto: "as the system", light: "light", dark: "dark" };
  return (
    <Tooltip label={`Theme: ${names[colorScheme]}`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Theme: ${names[colorScheme]}. Switch`}
        onClick={() => setColorScheme(next[colorScheme])}
      >
        {colorScheme === "dark" ? <IconMoon size={17} /> : <IconSun size={17} opacity={colorScheme === "auto" ? 0.55 : 1} />}
      </ActionIcon>
    </Tooltip>
  );
}

function UserMenu({ onKeys }: { onKeys: () => void }) {
  const { user, account, session } = useMe();
  const queries = useQueryClient();
  const router = useRouter();
  const navigate = useNavigate();
  const signOut = async () => {
    await send("DELETE", "/api/v1/sessions/current");
    queries.clear();
    await router.navigate({ to: "/sign-in" });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <button type="button" className={styles.user}>
          <span aria-hidden="true">{initials(user.attributes.name)}</span>
          <span className="visually-hidden">Signed in as {user.attributes.name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.attributes.name} · {session.attributes.role.toLowerCase()} of {account.attributes.name}
        </Menu.Label>
        <Menu.Item onClick={() => navigate({ to: "/settings" })}>Settings</Menu.Item>
        <Menu.Item onClick={() => navigate({ to: "/terminal" })}>Sign in a terminal</Menu.Item>
        <Menu.Item onClick={onKeys}>Keyboard</Menu.Item>
        <Menu.Item component="a" href="/docs">
          The book
        </Menu.Item>
        <Menu.Item component="a" href="/docs/api">
          Interface reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function initials(name: string): string {
  const letters = name.split(/\s+/).map((word) => word[0] ?? "");
  return (letters.length > 1 ? `${letters[0]}${letters.at(-1)}` : name.slice(0, 2)).toUpperCase();
}
