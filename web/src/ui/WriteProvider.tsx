import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, lazy, type ReactNode, Suspense, useContext, useMemo, useState } from "react";
import { visible } from "../visible/visible";
import { type Conflict, type Dialogs, type Question, Writer } from "./write";

export type Asked = ({ kind: "confirm"; question: Question } | { kind: "conflict"; conflict: Conflict }) & {
  answer: (yes: boolean) => void;
};

const WriteDialogs = lazy(() => import("./WriteDialogs"));
const Context = createContext<Writer | null>(null);

/** useWriter returns the Writer of the page. */
export function useWriter(): Writer {
  const writer = useContext(Context);
  if (!writer) throw new Error("useWriter outside of WriteProvider");
  return writer;
}

/** WriteProvider shows the questions and messages of writes. */
export function WriteProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  const writer = useMemo(() => {
    const ask = (what: (answer: (yes: boolean) => void) => Asked) =>
      new Promise<boolean>((resolve) => {
        setAsked(
          what((yes) => {
            setAsked(undefined);
            resolve(yes);
          }),
        );
      });
    const dialogs: Dialogs = {
      confirm: (question) => ask((answer) => ({ kind: "confirm", question, answer })),
      resolve: (conflict) => ask((answer) => ({ kind: "conflict", conflict, answer })),
      succeeded: showDone,
      failed: (title, failure) =>
        notifications.show({
          color: "red",
          title: visible(`${title}: failed`),
          message: visible(`${failure.message}${failure.requestId ? ` (request ${failure.requestId})` : ""}`),
          autoClose: 12_000,
          closeButtonProps: { "aria-label": "Close" },
        }),
    };
    return new Writer(queries, dialogs);
  }, [queries]);
  return (
    <Context.Provider value={writer}>
      {children}
      <Suspense>{asked && <WriteDialogs asked={asked} />}</Suspense>
    </Context.Provider>
  );
}

function showDone(message: string, undo?: () => Promise<void>) {
  const id = notifications.show({
    autoClose: undo ? 8000 : 3000,
    withBorder: true,
    closeButtonProps: { "aria-label": "Close" },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        {undo && (
          <Button
            size="compact-sm"
            flex="none"
            variant="light"
            onClick={() => {
              notifications.hide(id);
              void undo();
            }}
          >
            Undo
          </Button>
        )}
      </Group>
    ),
  });
}
