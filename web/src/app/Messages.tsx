import { Button, CloseButton } from "@mantine/core";
import { useEffect, useState, useSyncExternalStore } from "react";
import { messages } from "../ui/messages";
import styles from "./Messages.module.css";

/** Messages shows the last message until its time is over; it stays while the pointer or the focus is on it. */
export function Messages() {
  const message = useSyncExternalStore(messages.subscribe, messages.snapshot);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!message || held) return;
    const timer = setTimeout(() => messages.show(undefined), message.ms ?? (message.title ? 12_000 : message.undo ? 8000 : 3000));
    return () => clearTimeout(timer);
  }, [message, held]);
  const close = () => {
    setHeld(false);
    messages.show(undefined);
  };
  if (!message) return null;
  const { text, title, undo, said } = message;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only keeps the message from closing
    <div
      role={title ? "alert" : "status"}
      className={styles.message}
      data-failed={title !== undefined || undefined}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div>
        {title && (
          <p>
            <strong>{title}</strong>
          </p>
        )}
        <p>{text}</p>
        {said && <Said sentences={said} />}
      </div>
      {undo && (
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            close();
            void undo();
          }}
        >
          Undo
        </Button>
      )}
      <CloseButton aria-label="Close" size="sm" onClick={close} />
    </div>
  );
}

/** most is how many sentences a message shows; the history shows all. */
const most = 2;

/** Said shows the sentences of a change once they have arrived. */
function Said({ sentences }: { sentences: Promise<string[]> }) {
  const [known, setKnown] = useState<{ of: Promise<string[]>; lines: string[] }>();
  useEffect(() => {
    void sentences.then((lines) => setKnown({ of: sentences, lines }));
  }, [sentences]);
  const lines = known?.of === sentences ? known.lines : [];
  if (lines.length === 0) return null;
  return (
    <p className={styles.said}>
      {lines.slice(0, most).join(" · ")}
      {lines.length > most && ` and ${lines.length - most} more`}
    </p>
  );
}
