import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Resource } from "../api/kinds";
import { type Loaded, useOne } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { Fact, Facts } from "../ui/Fact";
import { LeaveButton } from "../ui/LeaveButton";
import { later } from "../ui/later";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { ShownOnce } from "../ui/ShownOnce";
import { TabbedPanel } from "../ui/TabbedPanel";
import { useOnce } from "../ui/useOnce";
import { useWriter } from "../ui/WriteProvider";
import { AdminOnly } from "./AdminOnly";
import { Deliveries } from "./Deliveries";
import { statusLabel } from "./deliveries";
import { EnabledSwitch } from "./EnabledSwitch";
import { useDeliveryActions } from "./useDeliveries";
import { WebhookState } from "./WebhookState";
import { filterWords, formatName, placeOfURL } from "./webhook";

const EditWebhook = later(() => import("./EditWebhook"));
const History = later(() => import("../ui/History"));

const list = { to: "/webhooks", label: "Webhooks" };

/** WebhookDetail is the page of one webhook: what was sent, its form, its history. */
export default function WebhookDetail() {
  const { id } = useParams({ from: "/frame/webhooks/$id" });
  return <AdminOnly head={<DetailHead list={list} title="Webhook" />}>{() => <Known key={id} id={id} />}</AdminOnly>;
}

function Known({ id }: { id: string }) {
  return (
    <Detail query={useOne("webhook", id, { refetchInterval: 10_000 })} list={list} id={id}>
      {(loaded) => <Page loaded={loaded} />}
    </Detail>
  );
}

function Page({ loaded }: { loaded: Loaded<"webhook"> }) {
  const webhook = loaded.resource;
  const [secret, setSecret] = useState<string>();
  return (
    <main className="screen detail">
      <DetailHead list={list} title={webhook.attributes.name}>
        <EnabledSwitch webhook={webhook} label="Enabled" />
        <Test id={webhook.id} />
        <Rotate webhook={webhook} show={setSecret} />
        <Delete webhook={webhook} />
      </DetailHead>
      {secret && (
        <ShownOnce label="The new secret" secret={secret}>
          It is shown only now. For 24 hours messages are signed with the old secret too, so that you have time to replace it.
        </ShownOnce>
      )}
      <Summary webhook={webhook} />
      <TabbedPanel
        label="About this webhook"
        tabs={[
          { key: "deliveries", label: "Deliveries", body: () => <Deliveries webhook={webhook} /> },
          { key: "edit", label: "Edit", body: () => <EditWebhook loaded={loaded} /> },
          { key: "history", label: "History", body: () => <History kind="webhook" id={webhook.id} /> },
        ]}
      />
    </main>
  );
}

function Test({ id }: { id: string }) {
  const { busy, once, test } = useDeliveryActions(id);
  const setSearch = useSetSearch();
  const send = async () => {
    const delivery = await test();
    if (delivery) setSearch({ tab: undefined, status: undefined, delivery: delivery.id });
  };
  return (
    <RoleGate needs="ADMIN">
      {(disabled) => (
        <Button size="compact-sm" disabled={disabled} loading={busy} onClick={() => once(send)}>
          Send a test
        </Button>
      )}
    </RoleGate>
  );
}

function Rotate({ webhook: { id, attributes }, show }: { webhook: Resource<"webhook">; show: (secret: string | undefined) => void }) {
  const writer = useWriter();
  const [busy, rotate] = useOnce(async () => {
    const made = await writer.attempted({
      kind: "webhook",
      id,
      action: "rotate_secret",
      title: `Rotate the secret of ${attributes.name}`,
      done: `${attributes.name} has a new secret.`,
      consequences:
        "The new secret is shown once. For 24 hours, messages are also signed with the old secret; after that, receivers that still use it refuse messages.",
      confirm: true,
      verb: "Rotate",
      final: true,
    });
    if (made) show(made.attributes.secret);
  });
  return (
    <RoleGate needs="ADMIN">
      {(disabled) => (
        <Button size="compact-sm" variant="default" disabled={disabled} aria-busy={busy} onClick={rotate}>
          Rotate secret…
        </Button>
      )}
    </RoleGate>
  );
}

function Delete({ webhook: { id, attributes } }: { webhook: Resource<"webhook"> }) {
  return (
    <LeaveButton
      to={list.to}
      write={{
        kind: "webhook",
        id,
        method: "DELETE",
        title: `Delete the webhook ${attributes.name}`,
        done: `Deleted ${attributes.name}.`,
        consequences: "Messages that were not sent yet are canceled, and its deliveries can no longer be read.",
        final: true,
      }}
    >
      Delete…
    </LeaveButton>
  );
}

function Summary({ webhook }: { webhook: Resource<"webhook"> }) {
  const { state, format, url, events, filter, last_delivery, created_at } = webhook.attributes;
  return (
    <Facts>
      <Fact label="State">
        <WebhookState state={state} /> <Why state={state} id={webhook.id} />
      </Fact>
      <Fact label="Format">{formatName(format)}</Fact>
      <Fact label="Target">
        <span className="mono">{placeOfURL(url)}</span>
      </Fact>
      <Fact label="Last delivery">
        {last_delivery ? (
          <>
            {statusLabel({ status: last_delivery.status, attempts: [] })}{" "}
            <span className="muted">
              <RelativeTime at={last_delivery.created_at} />
            </span>
          </>
        ) : (
          <span className="muted">nothing sent</span>
        )}
      </Fact>
      <Fact label="Events" wide>
        <span className="mono">{events.join(", ")}</span>
      </Fact>
      {filterWords(filter) && (
        <Fact label="Only" wide>
          {filterWords(filter)}
        </Fact>
      )}
      <Fact label="Created">
        <RelativeTime at={created_at} />
      </Fact>
    </Facts>
  );
}

/** Why says what a state means. */
function Why({ state, id }: { state: Resource<"webhook">["attributes"]["state"]; id: string }) {
  if (state === "failing") return <span className="muted">the last attempt failed; after five days of failures it is disabled</span>;
  if (state === "ok") return null;
  return (
    <span className="muted">
      nothing is sent; its{" "}
      <Link to="/webhooks/$id" params={{ id }} search={{ tab: "history" }}>
        history
      </Link>{" "}
      says why
    </span>
  );
}
