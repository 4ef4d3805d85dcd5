import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, Suspense, useContext, useMemo, useSyncExternalStore } from "react";
import type { Kind } from "../api/kinds";
import { later } from "./later";
import { say, sayFailure } from "./messages";
import { Questions } from "./questions";
import { type Conflict, type Consent, type Dialogs, type Question, Writer } from "./write";

export type Asked =
  | { kind: "confirm"; question: Question; answer: (consent: Consent) => void }
  | { kind: "conflict"; conflict: Conflict; answer: (isMine: boolean) => void };

const WriteDialogs = later(() => import("./WriteDialogs"));
const Context = createContext<Writer | null>(null);

/** useWriter returns the Writer of the page. */
export function useWriter(): Writer {
  const writer = useContext(Context);
  if (!writer) throw new Error("useWriter outside of WriteProvider");
  return writer;
}

/** useWriting returns whether a write of a resource is in progress. */
export function useWriting(kind: Kind, id: string): boolean {
  const writer = useWriter();
  return useSyncExternalStore(writer.subscribe, () => writer.isWriting(kind, id));
}

/** WriteProvider shows the questions and messages of writes. */
export function WriteProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const { writer, questions } = useMemo(() => {
    const questions = new Questions<Asked>();
    const ask = async <A,>(make: (answer: (given: A) => void) => Asked) => {
      await WriteDialogs.preload(); // an action whose question cannot be shown fails, instead of waiting for an answer
      return questions.ask(make);
    };
    const dialogs: Dialogs = {
      confirm: (question) => ask<Consent>((answer) => ({ kind: "confirm", question, answer })),
      resolve: (conflict) => ask<boolean>((answer) => ({ kind: "conflict", conflict, answer })),
      succeeded: (message, undo, said) => say(message, { undo, said }),
      failed: sayFailure,
    };
    return { writer: new Writer(queries, dialogs), questions };
  }, [queries]);
  const shown = useSyncExternalStore(questions.subscribe, questions.snapshot);
  return (
    <Context.Provider value={writer}>
      {children}
      <Suspense>{shown && <WriteDialogs key={shown.key} asked={shown.question} />}</Suspense>
    </Context.Provider>
  );
}
