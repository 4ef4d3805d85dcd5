import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { around } from "../api/client";
import { meOptions } from "../api/session";
import { drafts } from "../ui/draft";
import { later } from "../ui/later";
import { useApp } from "./context";

const SignInAgain = later(() => import("./SignInAgain"));

/** SessionGuard asks to sign in again when the session has ended. Requests wait for the answer, and go on after it. */
export function SessionGuard() {
  const queries = useQueryClient();
  const { live } = useApp();
  const [answer, setAnswer] = useState<(signedIn: boolean) => void>();
  useEffect(() => {
    let asked: Promise<boolean> | undefined;
    const ask = async () => {
      await SignInAgain.preload();
      const before = queries.getQueryData(meOptions.queryKey);
      const isSignedIn = await new Promise<boolean>((resolve) => setAnswer(() => resolve));
      setAnswer(undefined);
      if (!isSignedIn) return false;
      const after = await queries.fetchQuery({ ...meOptions, staleTime: 0 });
      if (before?.user.id !== after?.user.id) return leave();
      live.retry();
      void queries.invalidateQueries();
      return true;
    };
    // One dialog answers all requests that wait.
    around.signIn = () => {
      asked ??= ask()
        .catch(() => false)
        .finally(() => {
          asked = undefined;
        });
      return asked;
    };
    return () => {
      around.signIn = undefined;
    };
  }, [queries, live]);
  return <Suspense>{answer && <SignInAgain answer={answer} />}</Suspense>;
}

// leave reloads the console for another person, so that no draft or request of the first person is sent as the second
// one.
function leave(): Promise<boolean> {
  drafts.clear();
  window.location.reload();
  return new Promise(() => {});
}
