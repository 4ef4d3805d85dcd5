import { Button, Group, Stack, Text } from "@mantine/core";
import type { Resource } from "../api/kinds";
import { say } from "../ui/messages";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { SidePanel } from "../ui/SidePanel";
import { EmptyState, Loading } from "../ui/states";
import { milliseconds } from "../ui/time";
import { DeliveryStatus } from "./Deliveries";
import { type Attempt, canSendAgain, type Delivery, explain, outcomeOf } from "./deliveries";
import { useDeliveryActions } from "./useDeliveries";
import styles from "./webhooks.module.css";

interface Props {
  webhook: Resource<"webhook">;
  /** delivery is undefined if the list does not have it. */
  delivery: Delivery | undefined;
  isPending: boolean;
  close: () => void;
}

/** DeliveryPanel shows one delivery with its attempts and answers, and sends it again. */
export function DeliveryPanel({ webhook, delivery, isPending, close }: Props) {
  return (
    <SidePanel title={delivery ? delivery.attributes.type : "Delivery"} close={close}>
      {delivery ? (
        <Details webhook={webhook} delivery={delivery} />
      ) : isPending ? (
        <Loading rows={4} />
      ) : (
        <EmptyState title="This delivery is not in the list">Remove the filter, or scroll to older deliveries.</EmptyState>
      )}
    </SidePanel>
  );
}

function Details({ webhook, delivery }: { webhook: Resource<"webhook">; delivery: Delivery }) {
  const { attempts, created_at, next_attempt_at, events } = delivery.attributes;
  return (
    <Stack gap="md">
      <Group gap="md">
        <DeliveryStatus delivery={delivery} />
        <Text size="sm" className="muted">
          happened <RelativeTime at={created_at} />
          {events > 1 && `, ${events} events in one message`}
        </Text>
      </Group>
      {next_attempt_at && (
        <Text size="sm">
          {attempts.length > 0 ? "The next attempt is " : "It is sent "}
          <RelativeTime at={next_attempt_at} />.
        </Text>
      )}
      <SendOne webhook={webhook} id={delivery.id} can={canSendAgain(delivery.attributes)} />
      <ol className={styles.attempts} aria-label="Attempts">
        {attempts.map((attempt) => (
          <One key={attempt.at} attempt={attempt} />
        ))}
      </ol>
      <Text size="xs" className="muted">
        webhook-id <span className="mono">{delivery.id}</span>, the same at every attempt
      </Text>
    </Stack>
  );
}

function One({ attempt }: { attempt: Attempt }) {
  const problem = explain(attempt);
  return (
    <li>
      <div className={styles.attempthead}>
        <b>{attempt.status === null ? "No answer" : outcomeOf(attempt)}</b>
        <span className="muted">
          <RelativeTime at={attempt.at} />, {milliseconds(attempt.duration_ms)}
        </span>
      </div>
      {problem && <Text size="sm">{problem}</Text>}
      {attempt.answer && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer scrolls, also with the keyboard
        <pre className={styles.answer} tabIndex={0}>
          {attempt.answer}
        </pre>
      )}
    </li>
  );
}

function SendOne({ webhook, id, can }: { webhook: Resource<"webhook">; id: string; can: boolean }) {
  const { busy, once, sendAgain } = useDeliveryActions(webhook.id);
  const send = async () => {
    if (await sendAgain(id)) say("It is sent again, with the same id.");
  };
  return (
    <RoleGate needs="ADMIN">
      {(disabled) => (
        <Button
          size="compact-sm"
          variant="default"
          w="fit-content"
          disabled={disabled || !can}
          title={can ? undefined : "It is being sent."}
          loading={busy}
          onClick={() => once(send)}
        >
          Send again
        </Button>
      )}
    </RoleGate>
  );
}
