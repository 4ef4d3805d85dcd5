import type { Environment } from "../api/session";

/** EnvironmentDot shows an environment's color. */
export function EnvironmentDot({ environment }: { environment: Pick<Environment, "color"> }) {
  return <span className="dot" style={{ background: environment.color ?? "var(--mantine-color-gray-5)" }} aria-hidden="true" />;
}

/** EnvironmentName shows an environment as the header of its column, and whether it is frozen. */
export function EnvironmentName({ environment }: { environment: Environment }) {
  return (
    <span title={environment.managed ? environment.id : `${environment.id} is not managed: its values are frozen`}>
      <EnvironmentDot environment={environment} /> {environment.name}
      {!environment.managed && <span className="muted"> (frozen)</span>}
    </span>
  );
}
