import { Checkbox, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { listOf } from "./draft";
import { choices, coveredBy, offered, toggled } from "./webhook";
import styles from "./webhooks.module.css";

interface Props {
  events: string[];
  onChange: (events: string[]) => void;
  error?: string;
}

/** EventPicker chooses the events of a webhook: the usual ones by name, the others by their types. */
export function EventPicker({ events, onChange, error }: Props) {
  const [typed, setTyped] = useState(events.filter((each) => !offered.has(each)).join(", "));
  const type = (text: string) => {
    setTyped(text);
    onChange([...new Set([...events.filter((each) => offered.has(each)), ...listOf(text)])]);
  };
  const choose = (event: string, on: boolean) => {
    const chosen = toggled(events, event, on);
    setTyped(chosen.filter((each) => !offered.has(each)).join(", "));
    onChange(chosen);
  };
  return (
    <Stack gap={8} role="group" aria-label="Events">
      <Text size="sm" fw={600}>
        Events
      </Text>
      <Choice type="*" label="Everything" events={events} choose={choose} />
      <div className={styles.events}>
        {choices.map(({ label, of }) => (
          <fieldset key={label} className={styles.group}>
            <legend>{label}</legend>
            {of.map((choice) => (
              <Choice key={choice.type} {...choice} events={events} choose={choose} />
            ))}
          </fieldset>
        ))}
      </div>
      <TextInput
        label="Other types"
        description="Such as change.context or job.*"
        classNames={{ input: "mono" }}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
        error={error}
      />
    </Stack>
  );
}

interface ChoiceProps {
  type: string;
  label: string;
  events: string[];
  choose: (type: string, on: boolean) => void;
}

function Choice({ type, label, events, choose }: ChoiceProps) {
  const covering = coveredBy(events, type);
  return (
    <Checkbox
      size="xs"
      className={styles.choice}
      label={
        <>
          {label} <span className="mono muted">{type}</span>
        </>
      }
      checked={covering !== undefined || events.includes(type)}
      disabled={covering !== undefined}
      title={covering && `${covering} includes it.`}
      onChange={(event) => choose(type, event.currentTarget.checked)}
    />
  );
}
