import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { CopyAs } from "../ui/CopyAs";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { type Attributes, exampleOf } from "./flags";
import { ValueInput } from "./ValueInput";

/** NewFlag creates a flag. */
export default function NewFlag({ close }: { close: () => void }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const [id, setId] = useState("");
  const [type, setType] = useState<Attributes["type"]>("BOOLEAN");
  const [value, setValue] = useState<unknown>(false);
  const [description, setDescription] = useState("");
  const attributes = { type, default: value, ...(description && { description }) };
  const { submit, failure } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "flag",
      id,
      method: "POST",
      title: `Create ${id}`,
      done: `Created ${id}.`,
      change: () => attributes,
    });
    if (made) await navigate({ to: "/flags/$id", params: { id: made.id } });
  });
  return (
    <Modal opened onClose={close} title="New flag">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Id"
            description="The name in the code, such as checkout-v2."
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
            error={failure?.at("/data/id")}
            required
            data-autofocus
          />
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={failure?.at("/data/attributes/description")}
          />
          <NativeSelect
            label="Type"
            value={type}
            data={["BOOLEAN", "STRING", "NUMERIC", "JSON"]}
            onChange={(event) => {
              const chosen = event.currentTarget.value as Attributes["type"];
              setType(chosen);
              setValue(exampleOf(chosen));
            }}
          />
          <ValueInput label="Default" type={type} value={value} onChange={setValue} error={failure?.at("/data/attributes/default")} />
          {failure?.problems.every((problem) => !problem.source?.pointer) && <p role="alert">{failure.message}</p>}
          <Group justify="space-between">
            <CopyAs
              method="POST"
              path="/api/v1/flags"
              body={{ data: { type: "flag", id, attributes } }}
              cli={`signalbox flags create ${id || "ID"} --type ${type.toLowerCase()} --default '${JSON.stringify(value)}'`}
            />
            <Button type="submit">Create</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
