import { Text } from "@mantine/core";
import { Link, useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
import { type Resource, wordFor } from "../api/kinds";
import { useStream } from "../api/queries";
import { isWorth, nameOf } from "../ui/changes";
import { RelativeTime } from "../ui/RelativeTime";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import type { Matter } from "./attention";
import styles from "./Home.module.css";
import { type Group, useMatters } from "./useMatters";

/** Home shows what needs attention, and the recent changes. */
export default function Home() {
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Home</h1>
      </header>
      <div className={styles.columns}>
        <section aria-label="Needs attention">
          <Matters />
        </section>
        <section className="panel" aria-label="Recent changes">
          <h2 className={styles.title}>Recent changes</h2>
          <RecentChanges />
        </section>
      </div>
    </main>
  );
}

function Matters() {
  const { groups, isPending, error, refetch } = useMatters();
  if (error) return <ErrorState error={error} retry={refetch} />;
  if (isPending) return <Loading rows={6} />;
  if (groups.length === 0)
    return (
      <div className="panel">
        <Text fw={600}>Nothing needs attention</Text>
        <Text size="sm" className="muted">
          Failing and overdue jobs, temporary levels, limits nearly reached, silent services, frozen environments and stale flags appear
          here.
        </Text>
      </div>
    );
  return (
    <div className={styles.groups}>
      {groups.map((group) => (
        <GroupOf key={group.title} group={group} />
      ))}
    </div>
  );
}

const shown = 6;

function GroupOf({ group: { title, matters, more } }: { group: Group }) {
  return (
    <section className="panel">
      <h2 className={styles.title}>
        {title} <Tag>{matters.length}</Tag>
      </h2>
      <ul className={styles.list}>
        {matters.slice(0, shown).map((matter) => (
          <Line key={matter.id} matter={matter} />
        ))}
      </ul>
      {matters.length > shown && (
        <Text size="sm">
          <Local href={more}>All {matters.length}</Local>
        </Text>
      )}
    </section>
  );
}

function Line({ matter: { title, reason, href, at } }: { matter: Matter }) {
  return (
    <li>
      <Local href={href}>{title}</Local>{" "}
      <span className="muted">
        {reason} {at && <RelativeTime at={at} />}
      </span>
    </li>
  );
}

// Local is a link to an address that is not typed as a route; the router follows it without a reload.
function Local({ href, children }: { href: string; children: ReactNode }) {
  const router = useRouter();
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    router.history.push(href);
  };
  return (
    <a href={href} onClick={follow}>
      {children}
    </a>
  );
}

function RecentChanges() {
  const { data, error, refetch } = useStream("change", { "page[size]": 100 });
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading rows={8} />;
  const changes = (data.pages[0]?.data ?? []).filter(isWorth).slice(0, 15);
  if (changes.length === 0) return <EmptyState title="Nothing was changed yet" />;
  return (
    <>
      <ul className={styles.list}>
        {changes.map((change) => (
          <Change key={change.id} change={change} />
        ))}
      </ul>
      <Text size="sm">
        <Link to="/history">All changes</Link>
      </Text>
    </>
  );
}

function Change({ change: { id, attributes } }: { change: Resource<"change"> }) {
  const { kind, action, actor, created_at } = attributes;
  return (
    <li>
      {actor.name} <span className="muted">{action.replace("_", " ")}</span>{" "}
      <Link to="/history" search={{ change: id } as never}>
        {`${wordFor(kind)} ${nameOf(attributes)}`.trim()}
      </Link>{" "}
      <span className="muted">
        <RelativeTime at={created_at} />
      </span>
    </li>
  );
}
