import { Text } from "@mantine/core";
import { Link, useRouter } from "@tanstack/react-router";
import { type MouseEvent, type ReactNode, Suspense } from "react";
import { wordFor } from "../api/kinds";
import { useCursorList } from "../api/queries";
import { healthVerb, isWorth, nameOf, sentencesOf } from "../ui/changes";
import { later } from "../ui/later";
import { RelativeTime } from "../ui/RelativeTime";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import type { Matter } from "./attention";
import { type Fold, folded } from "./folded";
import styles from "./Home.module.css";
import { Pulse, RunsByHour } from "./Pulse";
import { type FirstSteps, useFirstSteps } from "./useFirstSteps";
import { type Group, useMatters } from "./useMatters";

const Checklist = later(() => import("./Checklist"));

/** isEmpty reports whether no service uses the account yet, so that there is no usage to show. */
const isEmpty = ({ connected, served }: FirstSteps) => !connected && !served;

/** Home shows the first steps of a new account, its usage, the matters that need attention, and the recent changes. */
export default function Home() {
  const first = useFirstSteps();
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Home</h1>
      </header>
      {first && (
        <Suspense fallback={<Loading rows={6} />}>
          <Checklist {...first} />
        </Suspense>
      )}
      {!(first && isEmpty(first.steps)) && (
        <div className={styles.pictures}>
          <Pulse />
          <RunsByHour />
        </div>
      )}
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
          Failing and overdue jobs, failing webhooks, temporary levels, limits nearly reached, silent services, frozen environments and
          stale flags appear here.
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

function GroupOf({ group: { title, matters, more, total = matters.length, tone } }: { group: Group }) {
  return (
    <section className={`panel ${styles.group}`} data-tone={tone}>
      <h2 className={styles.title}>
        {title} <Tag tone={tone}>{total}</Tag>
      </h2>
      <ul className={styles.list}>
        {matters.slice(0, shown).map((matter) => (
          <Line key={matter.id} matter={matter} />
        ))}
      </ul>
      {matters.length > shown && (
        <Text size="sm">
          <Local href={more}>All {total}</Local>
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
  const { data, error, refetch } = useCursorList("change", { "page[size]": 100 });
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data) return <Loading rows={8} />;
  const changes = folded((data.pages[0]?.data ?? []).filter(isWorth)).slice(0, 15);
  if (changes.length === 0) return <EmptyState title="Nothing was changed yet" />;
  return (
    <>
      <ul className={styles.list}>
        {changes.map((fold) => (
          <Change key={fold.first.id} fold={fold} />
        ))}
      </ul>
      <Text size="sm">
        <Link to="/history">All changes</Link>
      </Text>
    </>
  );
}

function Change({ fold: { first, changes } }: { fold: Fold }) {
  const { kind, action, created_at, summary } = first.attributes;
  const [sentence, ...others] = sentencesOf(summary);
  return (
    <li>
      <What change={first} />{" "}
      {changes.length > 1 && (
        <details className={styles.fold}>
          <summary>and {changes.length - 1} more</summary>
          <ul className={styles.list}>
            {changes.slice(1).map(({ id, attributes }) => (
              <li key={id}>
                <Link to="/history" search={{ change: id } as never}>
                  {nameOf(attributes) || wordFor(kind)}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}{" "}
      <span className="muted">
        <RelativeTime at={created_at} />
      </span>
      {sentence && (action === "updated" || kind === "job_health") && (
        <div className={`muted ${styles.sentence}`}>
          {sentence}
          {others.length > 0 && ` and ${others.length} more`}
        </div>
      )}
    </li>
  );
}

// What shows the actor, the action and the resource of a change. A change of a job's health has no actor.
function What({ change }: { change: Fold["first"] }) {
  const { kind, action, actor } = change.attributes;
  const isHealth = kind === "job_health";
  const resource = (
    <Link to="/history" search={{ change: change.id } as never}>
      {`${wordFor(isHealth ? "job" : kind)} ${nameOf(change.attributes)}`.trim()}
    </Link>
  );
  if (isHealth)
    return (
      <>
        {resource} <span className="muted">{healthVerb(action)}</span>
      </>
    );
  return (
    <>
      {actor.name} <span className="muted">{action.replace("_", " ")}</span> {resource}
    </>
  );
}
