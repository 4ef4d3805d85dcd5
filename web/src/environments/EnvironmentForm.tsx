import { Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ApiError } from "../api/client";
import type { Resource } from "../api/kinds";
import { CopyAs } from "../ui/CopyAs";
import { SubmitButton } from "../ui/SubmitButton";
import { ErrorState } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";

/** EnvironmentForm changes the name, color and kind of an environment. */
export function EnvironmentForm({ environment, etag }: { environment: Resource<"environment">; etag: string }) {
  const writer = useWriter();
  const { id, attributes } = environment;
  const [name, setName] = useState(attributes.name);
  const [color, setColor] = useState(attributes.color ?? "");
  const [classification, setClassification] = useState<string>(attributes.classification);
  const wanted = { name, color: color || null, classification };
  const { submit, failure, busy } = useSubmit(async () => {
    await writer.perform({
      kind: "environment",
      id,
      etag,
      environments: [id],
      title: `Change ${id}`,
      done: `Changed ${id}.`,
      change: () => wanted,
    });
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" className="mono muted">
          {id}
        </Text>
        <NameAndColor name={name} setName={setName} color={color} setColor={setColor} failure={failure} />
        <NativeSelect
          label="Kind"
          description="Ad hoc environments are temporary, such as those of test runs; lists show them only while they are managed."
          size="sm"
          value={classification}
          onChange={(event) => setClassification(event.currentTarget.value)}
          data={[
            { value: "STANDARD", label: "Standard" },
            { value: "AD_HOC", label: "Ad hoc" },
          ]}
        />
        {failure && <ErrorState error={failure} />}
        <Group>
          <SubmitButton needs="ADMIN" size="compact-sm" busy={busy}>
            Save
          </SubmitButton>
          <CopyAs
            method="PUT"
            path={`/api/v1/environments/${encodeURIComponent(id)}`}
            body={{ data: { type: "environment", id, attributes: wanted } }}
          />
        </Group>
      </Stack>
    </form>
  );
}

interface Fields {
  name: string;
  setName: (name: string) => void;
  color: string;
  setColor: (color: string) => void;
  failure?: ApiError;
}

/** NameAndColor has the fields that the form of a new environment also has. */
export function NameAndColor({ name, setName, color, setColor, failure }: Fields) {
  return (
    <Group align="flex-start" grow>
      <TextInput
        label="Name"
        size="sm"
        value={name}
        required
        maxLength={255}
        error={failure?.at("/data/attributes/name")}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Color"
        size="sm"
        type="color"
        value={color || "#6b7280"}
        error={failure?.at("/data/attributes/color")}
        onChange={(event) => setColor(event.currentTarget.value)}
      />
    </Group>
  );
}
