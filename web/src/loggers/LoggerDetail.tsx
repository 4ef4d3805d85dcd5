import { NativeSelect, Text } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Kinds } from "../api/kinds";
import { useList, useOne } from "../api/queries";
import type { Environment } from "../api/session";
import { useColumns } from "../app/focus";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { LeaveButton } from "../ui/LeaveButton";
import { LevelPill } from "../ui/LevelPill";
import { later } from "../ui/later";
import { RoleGate } from "../ui/RoleGate";
import { Sources } from "../ui/Sources";
import { EmptyState } from "../ui/states";
import { TabbedPanel } from "../ui/TabbedPanel";
import { Tag } from "../ui/Tag";
import { LevelCell } from "./LevelCell";
import { LevelPicker, type Picking } from "./LevelPicker";
import styles from "./LoggerDetail.module.css";
import { effectiveIn, type Logger, stepsOf } from "./levels";
import { useAssign } from "./useAssign";

const History = later(() => import("../ui/History"));

const list = { to: "/loggers", label: "Log levels" };

/** LoggerDetail is the page of one logger: its levels and their origins, its services, group and history. */
export default function LoggerDetail() {
  const { id } = useParams({ from: "/frame/loggers/$id" });
  return (
    <Detail query={useOne("logger", id, { refetchInterval: 5000 })} list={list} id={id}>
      {({ resource }) => <Page key={id} logger={resource} />}
    </Detail>
  );
}

function Page({ logger }: { logger: Logger }) {
  const environments = useColumns();
  const [picking, setPicking] = useState<Picking>();
  const { attributes } = logger;
  return (
    <main className="screen detail">
      <DetailHead list={list} title={logger.id} subtitle={attributes.name === logger.id ? undefined : attributes.name}>
        {!attributes.managed && <Tag>discovered: reported by services, not managed</Tag>}
        <GroupSelect logger={logger} />
        <Release logger={logger} />
      </DetailHead>
      <section className={styles.environments} aria-label="Levels">
        <BaseLevel logger={logger} pick={setPicking} />
        {environments.map((environment) => (
          <Resolution key={environment.id} logger={logger} environment={environment} pick={setPicking} />
        ))}
      </section>
      <TabbedPanel
        label="About this logger"
        tabs={[
          { key: "sources", label: "Services", body: () => <Services id={logger.id} /> },
          { key: "history", label: "History", body: () => <History kind="logger" id={logger.id} /> },
        ]}
      />
      {picking && <LevelPicker picking={picking} onClose={() => setPicking(undefined)} />}
    </main>
  );
}

function BaseLevel({ logger, pick }: { logger: Logger; pick: (picking: Picking) => void }) {
  const { level, managed } = logger.attributes;
  const own = managed ? level : null;
  return (
    <div className="panel">
      <Text size="sm" fw={600} mb={8}>
        All environments
      </Text>
      <button
        type="button"
        className="plain"
        aria-label={`Level of ${logger.id} in all environments: ${own ?? "not set; click to set"}`}
        onClick={(event) =>
          pick({ anchor: event.currentTarget, kind: "logger", id: logger.id, level: own ?? undefined, isSet: own !== null })
        }
      >
        {own ? <LevelPill level={own} /> : <span className="muted">not set; click to set</span>}
      </button>
    </div>
  );
}

/** Resolution shows the five places of a level in the order of the server, and the one that decides. */
function Resolution({ logger, environment, pick }: { logger: Logger; environment: Environment; pick: (picking: Picking) => void }) {
  const onPick = (anchor: HTMLElement) =>
    pick({
      anchor,
      kind: "logger",
      id: logger.id,
      environment,
      level: effectiveIn(logger.attributes, environment.id)?.level,
      isSet: Boolean(logger.attributes.environments[environment.id]),
    });
  return (
    <div className="panel">
      <Text size="sm" fw={600} mb={8}>
        <EnvironmentName environment={environment} />
      </Text>
      <div className={styles.cell}>
        <LevelCell id={logger.id} logger={logger} environment={environment} onPick={onPick} />
      </div>
      {logger.attributes.managed && (
        <ol className={styles.steps}>
          {stepsOf(logger, environment.id).map((step) => (
            <li key={step.title} data-decided={step.decided || undefined} aria-current={step.decided ? "step" : undefined}>
              <span>
                {step.title}
                {step.decided && step.of && <span className="mono"> ({step.of})</span>}
              </span>
              <span>{step.level ? step.level : "–"}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function GroupSelect({ logger }: { logger: Logger }) {
  const assign = useAssign();
  const { data } = useList("log_group", { "page[size]": 1000 });
  const groups = (data?.data ?? []).map(({ id }) => id);
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <NativeSelect
          size="xs"
          aria-label="Group"
          disabled={disabled}
          value={logger.attributes.group ?? ""}
          onChange={(event) => assign(logger.id, event.currentTarget.value || null)}
          data={[{ value: "", label: "No group" }, ...groups.map((id) => ({ value: id, label: `Group ${id}` }))]}
        />
      )}
    </RoleGate>
  );
}

function Release({ logger }: { logger: Logger }) {
  if (!logger.attributes.managed) return null;
  return (
    <LeaveButton
      to={list.to}
      write={{
        kind: "logger",
        id: logger.id,
        title: `Release ${logger.id}`,
        done: `${logger.id} uses the level of its code again.`,
        environments: ["production"],
        consequences: "Its levels, in all environments, and its group are removed. Services use the level of their code again.",
        change: () => ({ managed: false }),
      }}
    >
      Release
    </LeaveButton>
  );
}

const reported = {
  "Current level": ({ resolved_level }: Kinds["logger_source"]) => <LevelPill level={resolved_level} />,
  "Level in the code": ({ level }: Kinds["logger_source"]) => level ?? <span className="muted">inherits</span>,
};

/** Services lists the services that report the logger, and the current level of each. */
function Services({ id }: { id: string }) {
  const loggersOf = (service: string) => (
    <Link to="/loggers" search={{ service }}>
      {service}
    </Link>
  );
  return (
    <Sources kind="logger_source" of={id} columns={reported} service={loggersOf}>
      <EmptyState title="No service reports this logger">
        You can set a level anyway: services that report it later use the level, and so do the loggers below it.
      </EmptyState>
    </Sources>
  );
}
