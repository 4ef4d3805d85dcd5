import { Button, Checkbox, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { columnsOf, useEnvironments } from "../api/session";
import { Dialog } from "../ui/Dialog";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { useFocused } from "./focus";

/** ChooseEnvironments chooses the environments that lists have columns for. The choice is part of the address, which can be shared. */
export default function ChooseEnvironments({ close }: { close: () => void }) {
  const environments = useEnvironments();
  const [focused, setFocused] = useFocused();
  const [chosen, setChosen] = useState(() => new Set(columnsOf(environments, focused).map(({ id }) => id)));
  const [text, setText] = useState("");
  const isWanted = ({ id, name }: { id: string; name: string }) => `${id} ${name}`.toLowerCase().includes(text.toLowerCase());
  const found = environments.filter(isWanted);
  const set = (ids: string[], isChosen: boolean) =>
    setChosen((old) => new Set(isChosen ? [...old, ...ids] : [...old].filter((id) => !ids.includes(id))));
  const show = () => {
    const all = columnsOf(environments).map(({ id }) => id);
    const shown = environments.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
    setFocused(shown.join() === all.join() ? [] : shown);
    close();
  };
  return (
    <Dialog onClose={close} title="Show environments" size="sm">
      <Stack gap="sm">
        <TextInput
          data-autofocus
          aria-label="Search environments"
          placeholder="Search"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div style={{ maxHeight: "50vh", overflow: "auto" }}>
          <Stack gap={6}>
            {found.map((environment) => (
              <Checkbox
                key={environment.id}
                label={<EnvironmentName environment={environment} />}
                checked={chosen.has(environment.id)}
                onChange={(event) => set([environment.id], event.currentTarget.checked)}
              />
            ))}
          </Stack>
        </div>
        <Group justify="space-between">
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              onClick={() =>
                set(
                  found.map(({ id }) => id),
                  true,
                )
              }
            >
              All
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() =>
                set(
                  found.map(({ id }) => id),
                  false,
                )
              }
            >
              None
            </Button>
          </Group>
          <Button disabled={chosen.size === 0} title={chosen.size === 0 ? "Choose at least one environment" : undefined} onClick={show}>
            Show {chosen.size}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
