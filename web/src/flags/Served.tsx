import { Link } from "@tanstack/react-router";
import type { Environment } from "../api/session";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { useRefusal } from "../ui/RoleGate";
import { showTabs } from "../ui/TabbedPanel";
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
  const isFrozen = !environment.managed || !flag.attributes.managed;
  const mayAdd = useRefusal("MEMBER", environment.id) === undefined && !isFrozen;
  const isNew = mayAdd && rules.length === 0;
  return (
    <article className={styles.card} data-off={isOff || undefined} aria-label={`Served in ${environment.name}`}>
      <header className={styles.head}>
        <EnvironmentName environment={environment} />
        {!isFrozen && <Toggle flag={flag} environment={environment} />}
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
      <Link
        to="."
        search={((old: object) => ({ ...old, tab: environment.id, rule: isNew ? "new" : undefined })) as never}
        className={styles.more}
        onClick={showTabs}
        replace
      >
        {isNew ? "Add rules" : isOff && rules.length > 0 ? "Rules, ignored while it is off" : "Rules"}
      </Link>
    </article>
  );
}
