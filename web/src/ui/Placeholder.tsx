import { EmptyState } from "./states";

/** Placeholder stands for a screen that does not exist yet. */
export function Placeholder({ title }: { title: string }) {
  return (
    <main className="screen">
      <header className="screen-head">
        <h1>{title}</h1>
      </header>
      <EmptyState title="This screen does not exist yet">The interface has it: see the reference at /docs/api.</EmptyState>
    </main>
  );
}
