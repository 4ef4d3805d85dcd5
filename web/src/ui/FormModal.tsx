import { Alert, Button, Group, type ModalProps, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Dialog } from "./Dialog";
import type { Drafting } from "./draft";
import { GoneNotice } from "./GoneNotice";
import { RelativeTime } from "./RelativeTime";
import { SidePanel } from "./SidePanel";

type Leaving = Pick<Drafting<object>, "isChanged" | "discard">;

/** useLeaving asks before a form with a draft is closed. */
export function useLeaving({ isChanged, discard }: Leaving, close: () => void) {
  const [asking, setAsking] = useState(false);
  return {
    asking: asking && isChanged,
    leave: () => {
      if (document.querySelector("[data-above]")) return; // Escape was for a dialog above
      if (isChanged) setAsking(!asking);
      else close();
    },
    stay: () => setAsking(false),
    drop: () => {
      discard();
      close();
    },
  };
}

/** AskDiscard asks whether the typed text may be discarded. */
export function AskDiscard({ asking, stay, drop }: Omit<ReturnType<typeof useLeaving>, "leave">) {
  if (!asking) return null;
  return (
    <Alert color="yellow" variant="light" mt="md" role="alertdialog" aria-label="Discard what you typed?">
      <Group justify="space-between">
        <Text size="sm">Discard what you typed?</Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" autoFocus onClick={stay}>
            Keep editing
          </Button>
          <Button size="compact-sm" color="red" onClick={drop}>
            Discard
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}

/** Restored says that the form shows an earlier draft. */
export function Restored({ draft: { restored, discard } }: { draft: Pick<Drafting<object>, "restored" | "discard"> }) {
  if (restored === undefined) return null;
  return (
    <Alert variant="light" p="xs" mb="sm" role="status">
      <Group justify="space-between">
        <Text size="sm">
          This is what you typed <RelativeTime at={new Date(restored).toISOString()} />. It is not saved.
        </Text>
        <Button size="compact-xs" variant="default" onClick={discard}>
          Discard
        </Button>
      </Group>
    </Alert>
  );
}

/** Outdated says that somebody changed the resource of a draft. Saving then shows both versions. */
export function Outdated({ what, draft }: { what: string; draft: Drafting<object> }) {
  return (
    <Alert color="yellow" variant="light" mb="md" role="status">
      <Group justify="space-between">
        <Text size="sm">Somebody changed this {what} while you were editing it. Saving shows both versions.</Text>
        <Button size="compact-sm" variant="default" onClick={draft.discard}>
          Discard mine, show theirs
        </Button>
      </Group>
    </Alert>
  );
}

/** FormModal is a dialog with a form. Closing it by any means asks first if something was typed. */
export function FormModal({ draft, onClose, children, ...modal }: Omit<ModalProps, "opened"> & { draft: Drafting<object> }) {
  const { leave, ...asking } = useLeaving(draft, onClose);
  return (
    <Dialog onClose={leave} {...modal}>
      <GoneNotice inForm />
      <Restored draft={draft} />
      {children}
      <AskDiscard {...asking} />
    </Dialog>
  );
}

interface Panel {
  title: string;
  draft: Drafting<object>;
  close: () => void;
  children: ReactNode;
}

/** FormPanel is a side panel with a form. Closing it asks first if something was typed. */
export function FormPanel({ title, draft, close, children }: Panel) {
  const { leave, ...asking } = useLeaving(draft, close);
  return (
    <SidePanel title={title} close={leave}>
      {!draft.isOutdated && <Restored draft={draft} />}
      {children}
      <AskDiscard {...asking} />
    </SidePanel>
  );
}
