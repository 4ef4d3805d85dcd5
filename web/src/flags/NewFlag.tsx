import { Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { stringify } from "../api/json";
import { CopyAs } from "../ui/CopyAs";
import { asCommand, asGo, goText } from "../ui/copyas";
import { useDraft } from "../ui/draft";
import { FormModal } from "../ui/FormModal";
import { SubmitButton } from "../ui/SubmitButton";
import { readAs, textOf, valueFrom } from "../ui/typed";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { type Attributes, exampleOf } from "./flags";
import { ValueInput } from "./ValueInput";

const empty = { id: "", type: "BOOLEAN" as Attributes["type"], value: "false", description: "" };

/** NewFlag creates a flag. */
export default function NewFlag({ close }: { close: () => void }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const draft = useDraft("flag:new", "", empty);
  const { id, type, value, description } = draft.value;
  const read = readAs(value, type);
  const attributes = { type, default: read.problem === undefined ? read.value : null, ...(description && { description }) };
  const { submit, failure, busy } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "flag",
      id,
      method: "POST",
      title: `Create ${id}`,
      done: `Created ${id}.`,
      change: () => ({ ...attributes, default: valueFrom("The default", value, type) }),
    });
    if (!made) return;
    draft.discard();
    await navigate({ to: "/flags/$id", params: { id: made.id } });
  });
  return (
    <FormModal draft={draft} onClose={close} title="New flag">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Id"
            description="The name in the code, such as checkout-v2."
            value={id}
            onChange={(event) => draft.change({ id: event.currentTarget.value })}
            error={failure?.at("/data/id")}
            required
            data-autofocus
          />
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => draft.change({ description: event.currentTarget.value })}
            error={failure?.at("/data/attributes/description")}
          />
          <NativeSelect
            label="Type"
            value={type}
            data={["BOOLEAN", "STRING", "NUMERIC", "JSON"]}
            onChange={(event) => {
              const chosen = event.currentTarget.value as Attributes["type"];
              draft.change({ type: chosen, value: textOf(exampleOf(chosen), chosen) });
            }}
          />
          <ValueInput
            label="Default"
            type={type}
            text={value}
            onChange={(text) => draft.change({ value: text })}
            error={failure?.at("/data/attributes/default")}
          />
          {failure?.problems.every((problem) => !problem.source?.pointer) && <p role="alert">{failure.message}</p>}
          <Group justify="space-between">
            <CopyAs
              method="POST"
              path="/api/v1/flags"
              body={{ data: { type: "flag", id, attributes } }}
              cli={asCommand(["flags", "create", id || "ID"], {
                type,
                default: type === "STRING" ? value : stringify(attributes.default),
                description,
              })}
              go={asGo("Flags.Create", id || "ID", "FlagDraft", {
                Type: goText(type),
                Default: `json.RawMessage(${goText(stringify(attributes.default))})`,
                Description: description && `new(${goText(description)})`,
              })}
            />
            <SubmitButton busy={busy}>Create</SubmitButton>
          </Group>
        </Stack>
      </form>
    </FormModal>
  );
}
