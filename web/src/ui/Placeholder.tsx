import { EmptyState } from "./states";

/** Placeholder holds the place of a screen that is still to come. */
export function Placeholder({ title }: { title: string }) {
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>{title}</h1>
      </header>
      <EmptyState title="This screen is not there yet">The interface has it: see the reference at /docs/api.</EmptyState>
    </main>
  );
}
