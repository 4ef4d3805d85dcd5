import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Dialog } from "./Dialog";
import { useRefusal } from "./RoleGate";
import { isShown, keptOf, useViews } from "./views";

const [other, save, remove] = ["other", "save", "remove"];

/** Views opens the saved views of a list, and saves the current filters as a view. Views are part of the user's settings. */
export function Views() {
  const { pathname, search } = useLocation();
  const shown = search as Record<string, string | undefined>;
  const navigate = useNavigate();
  const { views, keep } = useViews(pathname);
  const refusal = useRefusal("MEMBER");
  const [isNaming, setNaming] = useState(false);
  const current = views.find((view) => isShown(view, shown));
  const kept = keptOf(shown);
  const isFiltered = Object.keys(kept).length > 0;
  const isOther = isFiltered && !current;
  const choose = (value: string) => {
    if (value === save) setNaming(true);
    else if (value === remove && current) void keep(current.name);
    else {
      const view = views.find(({ name }) => `view ${name}` === value);
      void navigate({ to: ".", search: { env: "", ...view?.search } } as never);
    }
  };
  if (views.length === 0 && !isFiltered) return null; // there is nothing to open or to save
  return (
    <>
      <select
        className="choice"
        aria-label="Saved view"
        value={current ? `view ${current.name}` : isOther ? other : ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {isOther && <option value={other}>Filtered</option>}
        <option value="">Everything</option>
        {views.map(({ name }) => (
          <option key={name} value={`view ${name}`}>
            {name}
          </option>
        ))}
        {isOther && (
          <option value={save} disabled={refusal !== undefined}>
            Save this view… {refusal}
          </option>
        )}
        {current && !refusal && <option value={remove}>Remove this view</option>}
      </select>
      {isNaming && <NameView close={() => setNaming(false)} save={(name) => void keep(name, kept)} />}
    </>
  );
}

function NameView({ close, save }: { close: () => void; save: (name: string) => void }) {
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(name.trim());
    close();
  };
  return (
    <Dialog onClose={close} title="Save this view" size="sm">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            data-autofocus
            label="Name"
            description="A view of this name is replaced. Only you see your views; share one with its address."
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={name.trim() === ""} title={name.trim() === "" ? "Type a name" : undefined}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
