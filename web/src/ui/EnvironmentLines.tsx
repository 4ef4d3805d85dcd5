import type { ReactNode } from "react";
import type { Environment } from "../api/session";
import { EnvironmentName } from "./EnvironmentDot";
import styles from "./EnvironmentLines.module.css";

/** heightWith returns the height of a card that has a title and a line for each environment. */
export const heightWith = (environments: Environment[]) => 44 + environments.length * 30;

/** EnvironmentLines shows a line for each environment in a card, in place of the columns of a list. */
export function EnvironmentLines({ of, children }: { of: Environment[]; children: (environment: Environment) => ReactNode }) {
  return of.map((environment) => (
    <div key={environment.id} className={styles.line}>
      <span className={styles.where}>
        <EnvironmentName environment={environment} />
      </span>
      {children(environment)}
    </div>
  ));
}
