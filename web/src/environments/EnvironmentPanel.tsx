import { Button, Checkbox, Divider, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Resource } from "../api/kinds";
import { type Loaded as Read, useOne } from "../api/queries";
import { type Stored, storedOptions } from "../api/usage";
import { DangerButton } from "../ui/DangerButton";
import { FormPanel } from "../ui/FormModal";
import History from "../ui/History";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState, Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import { EnvironmentForm, useEnvironmentDraft } from "./EnvironmentForm";
import { inWords, stored } from "./usage";

/** EnvironmentPanel shows one environment: its name, whether it is managed, its stored values, and how to delete it. */
export function EnvironmentPanel({ id, close }: { id: string; close: () => void }) {
  const { data, error, refetch } = useOne("environment", id);
  const { data: usage } = useQuery(storedOptions(id));
  if (data && usage) return <Loaded loaded={data} usage={usage} close={close} />;
  return (
    <SidePanel title={data ? data.resource.attributes.name : id} close={close}>
      {error && !data ? <ErrorState error={error} retry={refetch} /> : <Loading />}
    </SidePanel>
  );
}

function Loaded({ loaded: { resource, etag }, usage, close }: { loaded: Read<"environment">; usage: Stored; close: () => void }) {
  const { id } = resource;
  const draft = useEnvironmentDraft(resource, etag);
  return (
    <FormPanel title={resource.attributes.name} draft={draft} close={close}>
      <Stack gap="lg">
        <EnvironmentForm id={id} draft={draft} />
        <Divider />
        <Management environment={resource} usage={usage} />
        <Divider />
        <Deletion id={id} usage={usage} close={close} />
        <Divider />
        <Text fw={600} size="sm">
          History
        </Text>
        <History kind="environment" id={id} needs="ADMIN" />
      </Stack>
    </FormPanel>
  );
}

function Management({ environment, usage }: { environment: Resource<"environment">; usage: Stored }) {
  const writer = useWriter();
  const { id, attributes } = environment;
  const set = (managed: boolean) =>
    writer.attempt({
      kind: "environment",
      id,
      title: managed ? `Manage ${id}` : `Freeze ${id}`,
      done: managed ? `${id} is managed.` : `${id} is frozen.`,
      confirm: true,
      consequences: managed
        ? `Its values can be changed again. It counts toward the plan's managed environments; ${inWords(usage)} stored for it.`
        : `It has ${inWords(usage)}. These values stay and are served, and nobody can change them until it is managed again.`,
      change: (current) => ({ name: current?.name, color: current?.color, managed }),
    });
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {attributes.managed ? "Managed" : "Frozen"}
      </Text>
      <Text size="sm" className="muted">
        {attributes.managed
          ? `People set values for it. It stores ${inWords(usage)}.`
          : `Its values cannot be changed. It stores ${inWords(usage)}, which services still get.`}
      </Text>
      <div>
        <RoleGate needs="ADMIN">
          {(disabled) =>
            attributes.managed ? (
              <Button size="compact-sm" variant="default" disabled={disabled || id === "production"} onClick={() => set(false)}>
                Freeze…
              </Button>
            ) : (
              <Button size="compact-sm" disabled={disabled} onClick={() => set(true)}>
                Manage…
              </Button>
            )
          }
        </RoleGate>
      </div>
      {id === "production" && (
        <Text size="xs" className="muted">
          production is always managed, and cannot be deleted.
        </Text>
      )}
    </Stack>
  );
}

function Deletion({ id, usage, close }: { id: string; usage: Stored; close: () => void }) {
  const writer = useWriter();
  const [cascade, setCascade] = useState(false);
  const remove = async () => {
    const done = await writer.attempt({
      kind: "environment",
      id,
      method: "DELETE",
      query: { cascade: cascade || undefined },
      title: `Delete ${id}`,
      done: `Deleted ${id}.`,
      consequences: cascade
        ? `It leaves every order and list, and ${inWords(usage)} are deleted with it. Services that run there get the values of all environments.`
        : `It leaves every order and list. It has ${inWords(usage)}; these values stay, are served, and are frozen until an environment ${id} is created again.`,
    });
    if (done) close();
  };
  if (id === "production") return null;
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Delete
      </Text>
      {stored(usage) > 0 && (
        <Checkbox
          size="xs"
          label={`Delete ${inWords(usage)} as well`}
          description="Otherwise they stay and are frozen."
          checked={cascade}
          onChange={(event) => setCascade(event.currentTarget.checked)}
        />
      )}
      <Group>
        <RoleGate needs="ADMIN">
          {(disabled) => (
            <DangerButton disabled={disabled} onClick={remove}>
              Delete…
            </DangerButton>
          )}
        </RoleGate>
      </Group>
    </Stack>
  );
}
