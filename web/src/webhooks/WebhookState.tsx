import { Tag } from "../ui/Tag";
import { stateOf, type Webhook } from "./webhook";

/** WebhookState shows how a webhook does, in a word. */
export function WebhookState({ state }: { state: Webhook["state"] }) {
  const { label, tone } = stateOf(state);
  return <Tag tone={tone}>{label}</Tag>;
}
