import { useMantineColorScheme } from "@mantine/core";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { around, asApiError } from "../api/client";
import { useLive } from "../api/live";
import { useEnvironments, useMe } from "../api/session";
import { IconMenu2, IconMoon, IconSearch, IconSun } from "../ui/icons";
import { later } from "../ui/later";
import { sayFailure } from "../ui/messages";
import { RelativeTime } from "../ui/RelativeTime";
import { Loading } from "../ui/states";
import { WriteProvider } from "../ui/WriteProvider";
import { useApp } from "./context";
import { Dropdown } from "./Dropdown";
import styles from "./Frame.module.css";
import { useFocused } from "./focus";
import { useKeys } from "./keys";
import { places } from "./places";
import { SessionGuard } from "./SessionGuard";
import { signOut } from "./signOut";
import { titleOf } from "./title";
import { Typeahead } from "./typeahead";

const Palette = later(() => import("./Palette"));
const ChooseEnvironments = later(() => import("./ChooseEnvironments"));
const KeyHelp = later(() => import("./KeyHelp"));

/** Frame is around every screen: the rail, the environment in focus, search, the connection, the user. */
export function Frame() {
  const { live } = useApp();
  const [shown, setShown] = useState<"palette" | "keys">();
  useEffect(() => {
    live.start();
    around.doubt = () => live.doubt();
    return () => live.stop();
  }, [live]);
  const [typeahead] = useState(() => new Typeahead());
  const show = (part: "palette" | "keys") => {
    if (part === "palette" && shown !== "palette") typeahead.start();
    return (part === "palette" ? Palette : KeyHelp).preload().then(
      () => setShown(part),
      (failure) => {
        typeahead.end();
        sayFailure(part === "palette" ? "Search" : "Keyboard", asApiError(failure));
      },
    );
  };
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = titleOf(pathname);
  }, [pathname]);
  useKeys({ palette: () => void show("palette"), help: () => void show("keys") });
  const close = () => setShown(undefined);
  return (
    <WriteProvider>
      <SessionGuard />
      <div className={styles.frame}>
        <Rail />
        <div className={styles.main}>
          <TopBar onSearch={() => void show("palette")} onKeys={() => void show("keys")} />
          <div className={styles.content}>
            <Suspense fallback={<Loading />}>
              <Outlet />
            </Suspense>
          </div>
        </div>
      </div>
      <Suspense>
        {shown === "palette" && <Palette close={close} early={() => typeahead.end()} />}
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
    <Dropdown label={<IconMenu2 size={18} />} name="Screens" className={styles.burger} side="left">
      {places.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to}>
          <Icon size={16} aria-hidden="true" /> {label}
        </Link>
      ))}
    </Dropdown>
  );
}

const several = "…";

/** EnvironmentFocus limits all screens to one environment, or to several of them. */
function EnvironmentFocus() {
  const environments = useEnvironments();
  const [focused, setFocused] = useFocused();
  const [isChoosing, setChoosing] = useState(false);
  const choose = (value: string) => {
    if (value === several) setChoosing(true);
    else setFocused(value ? [value] : []);
  };
  return (
    <>
      <select
        className="choice"
        aria-label="Environment in focus"
        value={focused.join()}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">All environments</option>
        {environments.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {focused.length > 1 && <option value={focused.join()}>{focused.length} environments</option>}
        {environments.length > 2 && <option value={several}>Several…</option>}
      </select>
      <Suspense>{isChoosing && <ChooseEnvironments close={() => setChoosing(false)} />}</Suspense>
    </>
  );
}

const words = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", offline: "Offline" };

function Connection() {
  const { live } = useApp();
  const { status, since } = useLive(live);
  const label =
    status === "live"
      ? "Changes by anybody appear here within a second."
      : "The data may be outdated; the console keeps trying to reach the server.";
  const isLost = status === "reconnecting" || status === "offline";
  return (
    <output className={styles.connection} data-status={status} title={label}>
      <span className="dot" aria-hidden="true" /> {words[status]}
      {isLost && (
        <span className={styles.since}>
          {" "}
          since <RelativeTime at={since.toISOString()} />
        </span>
      )}
    </output>
  );
}

function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = { auto: "light", light: "dark", dark: "auto" } as const;
  const names = { auto: "same as the system", light: "light", dark: "dark" };
  return (
    <button
      type="button"
      className={styles.icon}
      title={`Theme: ${names[colorScheme]}`}
      aria-label={`Theme: ${names[colorScheme]}. Switch`}
      onClick={() => setColorScheme(next[colorScheme])}
    >
      {colorScheme === "dark" ? <IconMoon size={17} /> : <IconSun size={17} opacity={colorScheme === "auto" ? 0.55 : 1} />}
    </button>
  );
}

function UserMenu({ onKeys }: { onKeys: () => void }) {
  const { user, account, session } = useMe();
  return (
    <Dropdown label={initials(user.attributes.name)} name={`Signed in as ${user.attributes.name}`} className={styles.user} side="right">
      <p>
        {user.attributes.name} · {session.attributes.role.toLowerCase()} of {account.attributes.name}
      </p>
      <Link to="/settings">Settings</Link>
      <Link to="/terminal">Sign in a terminal</Link>
      <button type="button" onClick={onKeys}>
        Keyboard
      </button>
      <a href="/docs">The book</a>
      <a href="/docs/api">Interface reference</a>
      <hr />
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </Dropdown>
  );
}

function initials(name: string): string {
  const letters = name.split(/\s+/).map((word) => word[0] ?? "");
  return (letters.length > 1 ? `${letters[0]}${letters.at(-1)}` : name.slice(0, 2)).toUpperCase();
}
