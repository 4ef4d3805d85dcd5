import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client";
import { clock } from "../api/clock";
import { pathOf, type Resource } from "../api/kinds";
import { Dialog } from "../ui/Dialog";
import { say } from "../ui/messages";
import { ErrorState } from "../ui/states";
import { localField, timeOf } from "../ui/time";
import { useSubmit } from "../ui/useSubmit";

const day = 86_400_000;

/**
 * SendAgain sends the failed deliveries of a period again, as after an outage of the target, or all of
 * them.
 */
export default function SendAgain({ webhook, close }: { webhook: Resource<"webhook">; close: () => void }) {
  const queries = useQueryClient();
  const [from, setFrom] = useState(() => localField(new Date(clock.now() - day)));
  const [to, setTo] = useState(() => localField(new Date(clock.now() + 60_000)));
  const [isAll, setAll] = useState(false);
  const { submit, failure, busy } = useSubmit(async () => {
    const body = { from: timeOf(from), to: timeOf(to), include_delivered: isAll };
    const path = `${pathOf("webhook", webhook.id)}/actions/redeliver`;
    const { document } = await send<{ data: { attributes: { queued: number } } }>("POST", path, { body });
    const { queued } = document.data.attributes;
    say(
      queued === 0
        ? "No delivery in this period needs to be sent again."
        : `${queued} ${queued === 1 ? "delivery is" : "deliveries are"} sent again.`,
    );
    void queries.invalidateQueries({ queryKey: ["webhook"] });
    close();
  });
  return (
    <Dialog onClose={close} title="Send deliveries again">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" className="muted">
            Sends again what failed, was canceled or waits for another attempt in this period of your time zone. Receivers recognize a
            repeated message by its webhook-id.
          </Text>
          <TextInput
            type="datetime-local"
            label="From"
            required
            value={from}
            error={failure?.at("/from")}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            type="datetime-local"
            label="To"
            required
            value={to}
            error={failure?.at("/to")}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          <Checkbox label="Also messages that were delivered" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />
          {failure && <ErrorState error={failure} />}
          <Group justify="flex-end">
            <Button variant="default" size="sm" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" size="sm" loading={busy}>
              Send again
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
