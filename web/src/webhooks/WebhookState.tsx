import { Tag } from "../ui/Tag";
import { stateOf, type Webhook } from "./webhook";

/** WebhookState shows the state of a webhook in a word. */
export function WebhookState({ state }: { state: Webhook["state"] }) {
  const { label, tone } = stateOf(state);
  return <Tag tone={tone}>{label}</Tag>;
}
