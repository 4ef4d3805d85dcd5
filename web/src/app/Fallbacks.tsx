import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ErrorState } from "../ui/states";
import { missingTitle } from "./title";

/** Crash shows an error that a screen did not handle. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="empty">
      <ErrorState error={error} retry={retry} />
    </div>
  );
}

/** Missing is the page of an unknown address. */
export function Missing() {
  useEffect(() => {
    const before = document.title;
    document.title = missingTitle;
    return () => {
      document.title = before;
    };
  }, []);
  return (
    <main className="empty">
      <h1>Page not found</h1>
      <Link to="/">Go to the start page</Link>
    </main>
  );
}
