import { Button, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { type DragEvent, useState } from "react";
import { useList } from "../api/queries";
import { RoleGate, useRefusal } from "../ui/RoleGate";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import type { Logger } from "./levels";
import styles from "./Members.module.css";
import { useAssign } from "./useAssign";

/** Members lists the loggers of a group, and beside them the other loggers, to drag in or to add with a button. */
export function Members({ id }: { id: string }) {
  const assign = useAssign();
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent, over: boolean) => {
    event.preventDefault();
    setOver(over);
  };
  const onDrop = (event: DragEvent) => {
    over(event, false);
    assign(event.dataTransfer.getData("text/plain"), id);
  };
  return (
    <div className={styles.columns}>
      <section
        aria-label="Members"
        className={styles.members}
        data-over={isOver || undefined}
        onDragOver={(event) => over(event, true)}
        onDragLeave={(event) => over(event, false)}
        onDrop={onDrop}
      >
        <Inside id={id} />
      </section>
      <Others id={id} />
    </div>
  );
}

function Inside({ id }: { id: string }) {
  const assign = useAssign();
  const { data, error, isPending, refetch } = useList("logger", { "filter[group]": id, "page[size]": 200, "meta[total]": true });
  if (isPending) return <Loading rows={3} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  if (data.data.length === 0) return <EmptyState title="No members yet">Drag loggers here, or add them with their button.</EmptyState>;
  const total = data.meta.pagination.total ?? 0;
  return (
    <>
      <ul className={styles.list}>
        {data.data.map((logger) => (
          <Line key={logger.id} logger={logger} action="Remove" onAct={() => assign(logger.id, null)} />
        ))}
      </ul>
      {total > data.data.length && (
        <Link to="/loggers" search={{ group: id }}>
          All {total}
        </Link>
      )}
    </>
  );
}

/** most is how many others are listed; the search finds the rest. */
const most = 50;

function Others({ id }: { id: string }) {
  const assign = useAssign();
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text.trim(), 80);
  const { data } = useList("logger", { "filter[search]": search, "page[size]": most });
  const others = (data?.data ?? []).filter(({ attributes }) => attributes.group !== id);
  return (
    <section aria-label="Other loggers">
      <TextInput
        size="xs"
        aria-label="Search other loggers"
        placeholder="Search other loggers"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul className={styles.list}>
        {others.map((logger) => (
          <Line key={logger.id} logger={logger} action="Add" onAct={() => assign(logger.id, id)} isDraggable />
        ))}
      </ul>
      {data && others.length === 0 && <p className="muted">No other logger has this text in its name.</p>}
    </section>
  );
}

interface LineProps {
  logger: Logger;
  action: "Add" | "Remove";
  onAct: () => void;
  isDraggable?: boolean;
}

function Line({ logger, action, onAct, isDraggable = false }: LineProps) {
  const { group } = logger.attributes;
  const mayWrite = useRefusal("MEMBER") === undefined;
  return (
    <li
      className={styles.line}
      draggable={isDraggable && mayWrite}
      onDragStart={(event) => event.dataTransfer.setData("text/plain", logger.id)}
    >
      <Link to="/loggers/$id" params={{ id: logger.id }} className="mono ellipsis" draggable={false}>
        {logger.id}
      </Link>
      {action === "Add" && group && <span className="muted">in {group}</span>}
      <span className="spring" />
      <RoleGate needs="MEMBER">
        {(disabled) => (
          <Button size="compact-xs" variant="subtle" disabled={disabled} aria-label={`${action} ${logger.id}`} onClick={onAct}>
            {action}
          </Button>
        )}
      </RoleGate>
    </li>
  );
}
