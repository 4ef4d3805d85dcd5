import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { ErrorState } from "../ui/states";

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
  return (
    <main className="empty">
      <h1>Page not found</h1>
      <Link to="/">Go to the start page</Link>
    </main>
  );
}
