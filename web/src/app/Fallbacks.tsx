import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { EmptyState, ErrorState } from "../ui/states";

/** Crash shows what a screen could not handle. */
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

/** Missing is the page of an address that leads nowhere. */
export function Missing() {
  return (
    <EmptyState title="There is nothing at this address">
      <Link to="/">Go to the start</Link>
    </EmptyState>
  );
}
