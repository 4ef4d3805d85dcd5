import { Tabs } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { useSetSearch } from "../app/focus";
import { Loading } from "./states";

export interface TabOf {
  key: string;
  label: ReactNode;
  body: () => ReactNode;
}

const place = "tabs";

/** showTabs scrolls to the tabs of the page and focuses them, for links elsewhere on the page that choose a tab. */
export function showTabs(): void {
  const tabs = document.getElementById(place);
  tabs?.scrollIntoView({ block: "start" });
  tabs?.focus({ preventScroll: true });
}

/** TabbedPanel shows the panel that the address names, or the first one. */
export function TabbedPanel({ tabs, label }: { tabs: TabOf[]; label: string }) {
  const { tab } = useSearch({ strict: false }) as { tab?: string };
  const setSearch = useSetSearch();
  const shown = tabs.find(({ key }) => key === tab) ?? tabs[0];
  return (
    <Tabs
      value={shown?.key}
      onChange={(key) => setSearch({ tab: key === tabs[0]?.key ? undefined : (key ?? undefined) })}
      keepMounted={false}
      className="panel"
      id={place}
      tabIndex={-1}
    >
      <Tabs.List aria-label={label} mb="md">
        {tabs.map(({ key, label }) => (
          <Tabs.Tab key={key} value={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown && (
        <Tabs.Panel value={shown.key}>
          <Suspense fallback={<Loading rows={4} />}>{shown.body()}</Suspense>
        </Tabs.Panel>
      )}
    </Tabs>
  );
}
