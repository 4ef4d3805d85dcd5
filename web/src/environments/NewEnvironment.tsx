import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { CopyAs } from "../ui/CopyAs";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { NameAndColor } from "./EnvironmentForm";

/** NewEnvironment makes an environment; it is managed from the start. */
export function NewEnvironment({ close }: { close: (id?: string) => void }) {
  const writer = useWriter();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [color, setColor] = useState("");
  const attributes = { name: name || id, color: color || null };
  const { submit, failure } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "environment",
      id,
      method: "POST",
      title: `Make the environment ${id}`,
      done: `${id} is made.`,
      change: () => attributes,
    });
    if (made) close(made.id);
  });
  return (
    <SidePanel title="New environment" close={() => close()}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" className="muted">
            It comes last in the order and is managed, so it counts towards the plan.
          </Text>
          <TextInput
            label="Id"
            description="What services say that they run in: letters, digits, dots, dashes and underscores."
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
            <RoleGate needs="ADMIN">
              {(disabled) => (
                <Button type="submit" size="compact-sm" disabled={disabled || id === ""}>
                  Make it
                </Button>
              )}
            </RoleGate>
            <CopyAs method="POST" path="/api/v1/environments" body={{ data: { type: "environment", id, attributes } }} />
          </Group>
        </Stack>
      </form>
    </SidePanel>
  );
}
