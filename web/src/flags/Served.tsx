import { Link } from "@tanstack/react-router";
import type { Environment } from "../api/session";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { type Flag, keysOf, settingsIn } from "./flags";
import { outcomeOf, valueText } from "./outcome";
import { sentenceOf } from "./rules";
import styles from "./Served.module.css";
import { Toggle } from "./Toggle";

const most = 4;

/** Served shows what a flag serves in every environment, side by side. */
export function Served({ flag, environments }: { flag: Flag; environments: Environment[] }) {
  return (
    <section className={styles.side} aria-label="What is served">
      {environments.map((environment) => (
        <Card key={environment.id} flag={flag} environment={environment} />
      ))}
    </section>
  );
}

function Card({ flag, environment }: { flag: Flag; environment: Environment }) {
  const { text, rest, isOff } = outcomeOf(flag.attributes, environment.id);
  const { rules } = settingsIn(flag.attributes, environment.id);
  const keys = keysOf(rules);
  return (
    <article className={styles.card} data-off={isOff || undefined} aria-label={`Served in ${environment.name}`}>
      <header className={styles.head}>
        <EnvironmentName environment={environment} />
        {environment.managed && flag.attributes.managed && <Toggle flag={flag} environment={environment} />}
      </header>
      <div className={styles.outcome}>{text}</div>
      {rest !== undefined && <div className="muted">everybody else: {rest}</div>}
      <ol className={styles.rules}>
        {rules.slice(0, most).map(({ description, logic, value }, index) => (
          <li key={keys[index]}>
            <span title={sentenceOf(logic)}>{description || sentenceOf(logic)}</span> <span className="mono">→ {valueText(value)}</span>
          </li>
        ))}
        {rules.length > most && <li className="muted">{rules.length - most} more</li>}
      </ol>
      <Link to="." search={((old: object) => ({ ...old, tab: environment.id })) as never} className={styles.more} replace>
        {rules.length === 0 ? "Add rules" : isOff ? "Rules, ignored while it is off" : "Rules"}
      </Link>
    </article>
  );
}
