import type { Loaded } from "../api/queries";
import { useDraft } from "../ui/draft";
import { Outdated, Restored } from "../ui/FormModal";
import { useWriter } from "../ui/WriteProvider";
import { applied, draftOf } from "./draft";
import { WebhookForm } from "./WebhookForm";

/** EditWebhook changes a webhook. A change by somebody else is announced and does not replace the typed text. */
export default function EditWebhook({ loaded }: { loaded: Loaded<"webhook"> }) {
  const { id, attributes } = loaded.resource;
  const writer = useWriter();
  const draft = useDraft(`webhook:${id}`, loaded.etag, draftOf(attributes));
  const save = async () => {
    const done = await writer.perform({
      kind: "webhook",
      id,
      title: `Change the webhook ${attributes.name}`,
      done: `Saved ${draft.value.name}.`,
      etag: draft.version,
      final: true,
      change: (current) => applied(current ?? attributes, draft.base, draft.value),
    });
    if (done) draft.discard();
  };
  return (
    <>
      {draft.isOutdated ? <Outdated what="webhook" draft={draft} /> : <Restored draft={draft} />}
      <WebhookForm draft={draft.value} id={id} isChanged={draft.isChanged} onChange={draft.change} onSave={save} />
    </>
  );
}
