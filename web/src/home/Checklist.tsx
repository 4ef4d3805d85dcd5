import { Button, Code, NativeSelect, Tabs, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useEnvironments } from "../api/session";
import { CopyText } from "../ui/CopyText";
import { IconCheck } from "../ui/icons";
import { RoleGate } from "../ui/RoleGate";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import styles from "./Checklist.module.css";
import { type Language, languages } from "./snippets";
import type { FirstSteps } from "./useFirstSteps";

const name = "First service";

/** Checklist leads through the first steps of an account; each is ticked when it happens. */
export default function Checklist({ steps, close }: { steps: FirstSteps; close: () => void }) {
  const done = Object.values(steps).filter(Boolean).length;
  const [key, setKey] = useState<string>();
  return (
    <section className={`panel ${styles.list}`} aria-label="First steps">
      <header className={styles.head}>
        <h2>First steps</h2>
        <span className="muted">{done} of 4</span>
        <progress value={done} max={4} aria-label="First steps that are done" />
        <span className="spring" />
        <Button size="compact-xs" variant="default" onClick={close}>
          Hide
        </Button>
      </header>
      <ol className={styles.steps}>
        <Step done={steps.key} title="Create a key" hint="Services use it to read flags, levels and configs.">
          <MakeKey made={key} setMade={setKey} />
        </Step>
        <Step done={steps.connected} title="Connect a service" hint="Done when the first service connects or asks for a flag.">
          <Snippets apiKey={key} />
        </Step>
        <Step done={steps.served} title="Serve the first flag" hint="Create checkout-v2, switch it on, and run the code again.">
          <Link to="/flags">Flags</Link>
        </Step>
        <Step
          done={steps.level}
          title="Set the first level"
          hint="Loggers appear when a service reports them. Set one to DEBUG for 15 minutes."
        >
          <Link to="/loggers">Log levels</Link>
        </Step>
      </ol>
    </section>
  );
}

function Step({ done, title, hint, children }: { done: boolean; title: string; hint: string; children: ReactNode }) {
  return (
    <li className={styles.step} data-done={done || undefined} aria-label={`${title}: ${done ? "done" : "to do"}`}>
      <span className={styles.tick} aria-hidden="true">
        {done && <IconCheck size={13} />}
      </span>
      <div className={styles.body}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm" className="muted">
          {hint}
        </Text>
        {children}
      </div>
    </li>
  );
}

function MakeKey({ made, setMade }: { made?: string; setMade: (key: string | undefined) => void }) {
  const writer = useWriter();
  const { submit, failure, busy } = useSubmit(async () => {
    const key = await writer.perform({
      kind: "api_key",
      id: "",
      method: "POST",
      title: `Create the key ${name}`,
      done: `Created the key ${name}.`,
      final: true,
      change: () => ({ name, role: "VIEWER" }),
    });
    setMade((key?.attributes as { key?: string } | undefined)?.key);
  });
  if (made) return <Text size="sm">The key is in the code below. It is shown only now.</Text>;
  return (
    <>
      <RoleGate needs="ADMIN">
        {(disabled) => (
          <Button size="compact-sm" disabled={disabled} loading={busy} onClick={() => void submit()}>
            Create a key
          </Button>
        )}
      </RoleGate>
      {failure && <ErrorState error={failure} />}
    </>
  );
}

function Snippets({ apiKey }: { apiKey?: string }) {
  const environments = useEnvironments().filter(({ managed }) => managed);
  const [environment, setEnvironment] = useState(
    environments.find(({ id }) => id === "production")?.id ?? environments[0]?.id ?? "production",
  );
  const [language, setLanguage] = useState<Language>("curl");
  const code = languages[language]({ url: window.location.origin, key: apiKey ?? "sk_api_…", environment });
  return (
    <Tabs value={language} onChange={(value) => setLanguage((value ?? "curl") as Language)} className={styles.code}>
      <div className={styles.bar}>
        <Tabs.List aria-label="Language">
          {Object.keys(languages).map((each) => (
            <Tabs.Tab key={each} value={each}>
              {each}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <NativeSelect
          size="xs"
          aria-label="Environment in the code"
          value={environment}
          onChange={(event) => setEnvironment(event.currentTarget.value)}
          data={environments.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </div>
      <Tabs.Panel value={language}>
        <div className="code-block">
          <Code block tabIndex={0}>
            {code}
          </Code>
          <CopyText text={code} />
        </div>
      </Tabs.Panel>
    </Tabs>
  );
}
