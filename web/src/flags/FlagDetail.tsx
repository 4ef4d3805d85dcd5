import { Code, Group, Stack, Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import type { Kinds } from "../api/kinds";
import { useOne } from "../api/queries";
import { useColumns } from "../app/focus";
import { CopyText } from "../ui/CopyText";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { LeaveButton } from "../ui/LeaveButton";
import { later } from "../ui/later";
import { RelativeTime, useNow } from "../ui/RelativeTime";
import { Sources } from "../ui/Sources";
import { staleText } from "../ui/stale";
import { EmptyState } from "../ui/states";
import { TabbedPanel } from "../ui/TabbedPanel";
import { Tag } from "../ui/Tag";
import styles from "./Evaluations.module.css";
import { chipOf, type Flag } from "./flags";
import { ManageFlag } from "./ManageFlag";
import { Served } from "./Served";

const History = later(() => import("../ui/History"));
const EnvironmentSettings = later(() => import("./EnvironmentSettings"));
const Definition = later(() => import("./Definition"));
const Evaluations = later(() => import("./Evaluations"));
const Why = later(() => import("./Why"));

const list = { to: "/flags", label: "Flags" };

/** FlagDetail is the page of one flag. */
export default function FlagDetail() {
  const { id } = useParams({ from: "/frame/flags/$id" });
  return (
    <Detail query={useOne("flag", id, { refetchInterval: 10_000 })} list={list} id={id}>
      {({ resource, etag }) => <Page key={id} flag={resource} etag={etag} />}
    </Detail>
  );
}

function Page({ flag, etag }: { flag: Flag; etag: string }) {
  const environments = useColumns();
  const now = useNow(3600);
  const { name, type, managed, description, stale } = flag.attributes;
  return (
    <main className="screen detail">
      <DetailHead list={list} title={flag.id} subtitle={name}>
        <Tag>{type.toLowerCase()}</Tag>
        {stale && <Tag tone="warning">stale: {staleText(stale, now)}</Tag>}
        {managed ? <Delete flag={flag} /> : <ManageFlag flag={flag} />}
      </DetailHead>
      {description && <Text size="sm">{description}</Text>}
      {!managed && (
        <Text size="sm" className="muted">
          Discovered: a service declared it with the default {chipOf(flag.attributes.default)}. Each service uses its own default until
          somebody manages the flag.
        </Text>
      )}
      {managed && <Served flag={flag} environments={environments} />}
      {flag.attributes.last_evaluated ? (
        <Suspense fallback={<div className={`panel ${styles.panel}`} aria-busy="true" />}>
          <Evaluations id={flag.id} />
        </Suspense>
      ) : (
        <Text size="sm" className="panel muted">
          No service has evaluated this flag yet.
        </Text>
      )}
      <TabbedPanel
        label="About this flag"
        tabs={[
          ...environments.map((environment) => ({
            key: environment.id,
            label: <EnvironmentName environment={environment} />,
            body: () => <EnvironmentSettings key={environment.id} flag={flag} etag={etag} environment={environment} />,
          })),
          { key: "values", label: "Values", body: () => <Definition flag={flag} etag={etag} /> },
          { key: "why", label: "Why", body: () => <Why flag={flag} /> },
          { key: "sources", label: "Declared in", body: () => <DeclaredIn id={flag.id} /> },
          { key: "history", label: "History", body: () => <History kind="flag" id={flag.id} /> },
          { key: "code", label: "Code", body: () => <CodeTab flag={flag} /> },
        ]}
      />
    </main>
  );
}

function Delete({ flag }: { flag: Flag }) {
  const { environments, last_evaluated } = flag.attributes;
  const count = Object.keys(environments).length;
  const consequences = (
    <>
      Its settings of {count} {count === 1 ? "environment" : "environments"} are removed; services serve the default of their code. It was
      evaluated last <RelativeTime at={last_evaluated} absent="never" />.
    </>
  );
  return (
    <LeaveButton
      to={list.to}
      write={{
        kind: "flag",
        id: flag.id,
        method: "DELETE",
        title: `Delete ${flag.id}`,
        done: `Deleted ${flag.id}.`,
        consequences,
      }}
    >
      Delete
    </LeaveButton>
  );
}

const declared = {
  Type: ({ declared_type }: Kinds["flag_source"]) => declared_type.toLowerCase(),
  "Default in the code": ({ declared_default }: Kinds["flag_source"]) => <span className="mono">{JSON.stringify(declared_default)}</span>,
};

function DeclaredIn({ id }: { id: string }) {
  return (
    <Sources kind="flag_source" of={id} columns={declared}>
      <EmptyState title="No service declares this flag">It was created here, or the services that declared it are gone.</EmptyState>
    </Sources>
  );
}

function CodeTab({ flag }: { flag: Flag }) {
  const { type, default: fallback } = flag.attributes;
  const literal = JSON.stringify(fallback);
  const call = { BOOLEAN: "box.Bool", STRING: "box.String", NUMERIC: "box.Number", JSON: "live.JSON[Settings]" }[type];
  const args = type === "JSON" ? `box, "${flag.id}", Settings{}` : `"${flag.id}", ${literal}`;
  const go = `flag := ${call}(${args}) // declared once, when the service starts\nvalue := flag.Get(live.WithContext(ctx, live.User("alice")))`;
  const curl = `curl -X POST ${window.location.origin}/ofrep/v1/evaluate/flags/${flag.id} \\\n  -H "Authorization: Bearer $SIGNALBOX_KEY" -H "X-Signalbox-Environment: production" \\\n  -H 'Content-Type: application/json' -d '{"context":{"targetingKey":"alice"}}'`;
  return (
    <Stack>
      {[
        { title: "Go", text: go },
        { title: "OpenFeature (OFREP)", text: curl },
        { title: "Command line", text: `signalbox flags why ${flag.id} -e production user:alice` },
      ].map(({ title, text }) => (
        <div key={title}>
          <Group justify="space-between" mb={4}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <CopyText text={text} />
          </Group>
          <Code block tabIndex={0}>
            {text}
          </Code>
        </div>
      ))}
    </Stack>
  );
}
