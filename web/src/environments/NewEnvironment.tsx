import { Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { CopyAs } from "../ui/CopyAs";
import { SidePanel } from "../ui/SidePanel";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { NameAndColor } from "./EnvironmentForm";

/** NewEnvironment creates an environment, which is managed from the start. */
export function NewEnvironment({ close }: { close: (id?: string) => void }) {
  const writer = useWriter();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [color, setColor] = useState("");
  const attributes = { name: name || id, color: color || null };
  const { submit, failure, busy } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "environment",
      id,
      method: "POST",
      title: `Create the environment ${id}`,
      done: `Created ${id}.`,
      change: () => attributes,
    });
    if (made) close(made.id);
  });
  return (
    <SidePanel title="New environment" close={() => close()}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" className="muted">
            It comes last in the order and is managed, so it counts toward the plan.
          </Text>
          <TextInput
            label="Id"
            description="The name that services report: letters, digits, dots, dashes and underscores."
            size="sm"
            className="mono"
            value={id}
            required
            maxLength={100}
            error={failure?.at("/data/id")}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <NameAndColor name={name || id} setName={setName} color={color} setColor={setColor} failure={failure} />
          {failure && <ErrorState error={failure} />}
          <Group>
            <SubmitButton needs="ADMIN" size="compact-sm" busy={busy} disabled={id === ""}>
              Create
            </SubmitButton>
            <CopyAs method="POST" path="/api/v1/environments" body={{ data: { type: "environment", id, attributes } }} />
          </Group>
        </Stack>
      </form>
    </SidePanel>
  );
}
