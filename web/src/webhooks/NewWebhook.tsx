import { Button, Group, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import type { Resource } from "../api/kinds";
import { DetailHead } from "../ui/DetailHead";
import { useDraft } from "../ui/draft";
import { Restored } from "../ui/FormModal";
import { later } from "../ui/later";
import { ShownOnce } from "../ui/ShownOnce";
import { Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import { AdminOnly } from "./AdminOnly";
import { attributesOf, emptyDraft } from "./draft";
import { useDeliveryActions } from "./useDeliveries";

const WebhookForm = later(() => import("./WebhookForm").then(({ WebhookForm }) => ({ default: WebhookForm })));

/** NewWebhook is the page that creates a webhook and shows its secret once. */
export default function NewWebhook() {
  const [made, setMade] = useState<Resource<"webhook">>();
  return (
    <main className="screen detail">
      <DetailHead list={{ to: "/webhooks", label: "Webhooks" }} title={made?.attributes.name ?? "New webhook"} />
      {made ? <Made webhook={made} /> : <AdminOnly>{() => <Making show={setMade} />}</AdminOnly>}
    </main>
  );
}

function Making({ show }: { show: (made: Resource<"webhook">) => void }) {
  const writer = useWriter();
  const kept = useDraft("webhook:new", "", emptyDraft);
  const draft = kept.value;
  const save = async () => {
    const made = await writer.perform({
      kind: "webhook",
      id: "",
      method: "POST",
      title: `Create the webhook ${draft.name}`,
      done: `Created ${draft.name}.`,
      final: true,
      change: () => attributesOf(draft),
    });
    if (!made) return;
    kept.discard();
    show(made);
  };
  return (
    <div className="panel">
      <Restored draft={kept} />
      <Suspense fallback={<Loading rows={10} />}>
        <WebhookForm draft={draft} isChanged={kept.isChanged} onChange={kept.change} onSave={save} />
      </Suspense>
    </div>
  );
}

function Made({ webhook: { id, attributes } }: { webhook: Resource<"webhook"> }) {
  const navigate = useNavigate();
  const { busy, once, test } = useDeliveryActions(id);
  const sendTest = async () => {
    const delivery = await test();
    if (delivery) await navigate({ to: "/webhooks/$id", params: { id }, search: { delivery: delivery.id } });
  };
  return (
    <Stack>
      <ShownOnce label={`The secret of ${attributes.name}`} secret={attributes.secret ?? ""}>
        It signs every message, so that receivers know that it is genuine. It is shown only now; rotating the secret creates a new one.
      </ShownOnce>
      <Group>
        <Button size="compact-sm" loading={busy} onClick={() => once(sendTest)}>
          Send a test
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => navigate({ to: "/webhooks/$id", params: { id } })}>
          Open the webhook
        </Button>
      </Group>
    </Stack>
  );
}
