import { Group, Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Level, Resource } from "../api/kinds";
import { useList, useOne } from "../api/queries";
import { useColumns } from "../app/focus";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { LeaveButton } from "../ui/LeaveButton";
import { LevelPill } from "../ui/LevelPill";
import { later } from "../ui/later";
import { TabbedPanel } from "../ui/TabbedPanel";
import { TimeLeft } from "./LevelCell";
import { LevelPicker, type Picking } from "./LevelPicker";
import styles from "./LoggerDetail.module.css";
import { Members } from "./Members";

const History = later(() => import("../ui/History"));

const list = { to: "/log-groups", label: "Groups" };

/** GroupDetail is the page of a log group: its levels, its members, its history. */
export default function GroupDetail() {
  const { id } = useParams({ from: "/frame/log-groups/$id" });
  return (
    <Detail query={useOne("log_group", id)} list={list} id={id}>
      {({ resource }) => <Page key={id} group={resource} />}
    </Detail>
  );
}

function Page({ group }: { group: Resource<"log_group"> }) {
  const environments = useColumns();
  const [picking, setPicking] = useState<Picking>();
  const { level, environments: own, level_expires_at } = group.attributes;
  const pick = (anchor: HTMLElement, environment: Picking["environment"], level: Level | undefined, isSet: boolean) =>
    setPicking({ anchor, kind: "log_group", id: group.id, environment, level, isSet });
  return (
    <main className="screen detail">
      <DetailHead list={list} title={group.id}>
        <Delete id={group.id} />
      </DetailHead>
      <section className={styles.environments} aria-label="Levels">
        <LevelPanel
          name="All environments"
          level={level ?? undefined}
          expiresAt={level_expires_at}
          onPick={(anchor) => pick(anchor, undefined, level ?? undefined, level !== null)}
        />
        {environments.map((environment) => (
          <LevelPanel
            key={environment.id}
            name={<EnvironmentName environment={environment} />}
            level={own[environment.id]?.level}
            expiresAt={own[environment.id]?.expires_at}
            onPick={(anchor) => pick(anchor, environment, own[environment.id]?.level, Boolean(own[environment.id]))}
          />
        ))}
      </section>
      <TabbedPanel
        label="About this group"
        tabs={[
          { key: "members", label: "Members", body: () => <Members id={group.id} /> },
          { key: "history", label: "History", body: () => <History kind="log_group" id={group.id} /> },
        ]}
      />
      {picking && <LevelPicker picking={picking} onClose={() => setPicking(undefined)} />}
    </main>
  );
}

interface LevelPanelProps {
  name: React.ReactNode;
  level?: Level;
  expiresAt?: string | null;
  onPick: (anchor: HTMLElement) => void;
}

function LevelPanel({ name, level, expiresAt, onPick }: LevelPanelProps) {
  return (
    <div className="panel">
      <Text size="sm" fw={600} mb={8}>
        {name}
      </Text>
      <Group gap="xs">
        <button type="button" className="plain" onClick={(event) => onPick(event.currentTarget)}>
          {level ? <LevelPill level={level} /> : <span className="muted">not set; click to set</span>}
        </button>
        {expiresAt && <TimeLeft at={expiresAt} />}
      </Group>
    </div>
  );
}

function Delete({ id }: { id: string }) {
  const { data } = useList("logger", { "filter[group]": id, "page[size]": 1, "meta[total]": true });
  const members = data?.meta.pagination.total ?? 0;
  const consequences =
    members === 0
      ? "It has no members."
      : `${members} ${members === 1 ? "logger loses" : "loggers lose"} the levels of the group; those without their own level are released.`;
  return (
    <LeaveButton
      to={list.to}
      write={{
        kind: "log_group",
        id,
        method: "DELETE",
        title: `Delete the group ${id}`,
        done: `Deleted the group ${id}.`,
        consequences,
      }}
    >
      Delete
    </LeaveButton>
  );
}
