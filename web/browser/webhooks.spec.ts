import { createServer, type Server as Receiver } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, tabTo, test } from "./harness";

let receiver: Receiver;
let hook: string;
const statuses: Record<string, number> = { "/broken": 500, "/gone": 410 };
const received: { path: string; id: string; body: { type: string } }[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      received.push({ path: request.url ?? "", id: String(request.headers["webhook-id"]), body: JSON.parse(body) });
      response.writeHead(statuses[request.url ?? ""] ?? 200, { "Content-Type": "text/plain" });
      response.end(request.url === "/broken" ? "out of order" : "thanks");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const w = fixture();

const webhook = async (name: string, path: string, attributes: Record<string, unknown> = {}) => {
  const body = { data: { type: "webhook", attributes: { name, url: hook + path, events: ["change.flag"], ...attributes } } };
  return (await w.server.api("POST", "/api/v1/webhooks", body)).data.id;
};

const flag = (id: string) => w.server.api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));

test("an empty list leads to the first webhook; its secret is shown once, and a test shows the answer", async () => {
  const page = await w.open("/");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("No webhooks yet").waitFor();
  await page.getByText("signalbox webhooks create", { exact: false }).waitFor();
  await expectAccessible(page);
  await page.locator(".empty").getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("Name", { exact: false }).first().fill("Ops");
  await page.getByLabel("URL").fill("nowhere");
  await page.getByText("must be an absolute URL", { exact: false }).waitFor();
  await page.getByLabel("URL").fill(`${hook}/ok`);
  await page.getByLabel("Every change", { exact: false }).check();
  expect(await page.getByLabel("Flags", { exact: false }).isDisabled()).toBe(true);
  await page.getByLabel("Other types").fill("job.exploded");
  await page.getByText("must be the type of an event", { exact: false }).waitFor();
  await page.getByLabel("Other types").fill("");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create the webhook" }).click();
  const secret = await page.getByText(/^whsec_/).textContent();
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Send a test" }).click();
  const panel = page.getByRole("dialog", { name: "webhook.test" });
  await panel.getByText("HTTP 200").waitFor();
  await panel.getByText("thanks").waitFor();
  expect(await page.getByText(/^whsec_/).count()).toBe(0);
  await expectAccessible(page);
});

test("a failed delivery says why, and is sent again: alone, and with a time", async () => {
  const id = await webhook("Broken", "/broken");
  await flag("for-broken");
  const page = await w.open(`/webhooks/${id}`);
  await page.getByRole("grid", { name: "Deliveries" }).getByText("Waiting to retry").waitFor();
  await page.getByText("Failing", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Waiting to retry" }).first().click();
  const panel = page.getByRole("dialog", { name: "change.flag" });
  await panel.getByText("HTTP 500").first().waitFor();
  await panel.getByText("out of order").first().waitFor();
  await panel.getByRole("button", { name: "Send again" }).click(); // before its next attempt is due
  await page.getByText("It is sent again, with the same id.").waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  const { data } = await w.server.api("GET", `/api/v1/webhooks/${id}`);
  const attributes = { ...data.attributes, url: `${hook}/mended` };
  await w.server.api("PUT", `/api/v1/webhooks/${id}`, { data: { type: "webhook", attributes: { ...attributes, enabled: false } } });
  await w.server.api("PUT", `/api/v1/webhooks/${id}`, { data: { type: "webhook", attributes: { ...attributes, enabled: true } } });
  await page.getByRole("button", { name: "Canceled" }).waitFor();
  await page.getByRole("button", { name: "Send again…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send deliveries again" });
  await dialog.getByLabel("From").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Send again" }).click();
  await page.getByText("1 delivery is sent again.").waitFor();
  await page.getByRole("button", { name: "Delivered" }).click();
  await panel.getByText("HTTP 200").waitFor();
  await panel.getByRole("button", { name: "Send again" }).click();
  await panel.getByText("HTTP 200").nth(1).waitFor();
  const ids = received.filter(({ path }) => path === "/broken" || path === "/mended").map((each) => each.id);
  expect(new Set(ids).size).toBe(1);
});

test("Home names webhooks that fail, and those that the server has disabled, with the reason", async () => {
  const [failing, gone, off] = [
    await webhook("Failing one", "/broken"),
    await webhook("Gone one", "/gone"),
    await webhook("Off", "/ok", { enabled: false }),
  ];
  await flag("for-home");
  const page = await w.open(`/webhooks/${gone}`);
  await page.getByText("Disabled", { exact: true }).waitFor();
  await page.goto("/");
  const group = page
    .locator("section")
    .filter({ has: page.getByRole("heading", { name: /^Failing webhooks/ }) })
    .last();
  await group.getByText("The target answered 410 Gone. Disabled").waitFor();
  await group.getByRole("listitem").filter({ hasText: "Failing one" }).getByText("HTTP 500, tried").waitFor();
  expect(await group.getByRole("link", { name: "Off" }).count()).toBe(0);
  expect(await group.getByRole("link", { name: "Failing one" }).getAttribute("href")).toBe(`/webhooks/${failing}`);
  for (const id of [failing, gone, off]) await w.server.api("DELETE", `/api/v1/webhooks/${id}`);
});

test("a webhook is edited, disabled, gets a new secret, and is deleted", async () => {
  const id = await webhook("Edited", "/ok", { filter: { environments: ["production"], ids: ["nightly-*"] } });
  const page = await w.open(`/webhooks/${id}?tab=edit`);
  await page.getByText("about production, with the ids nightly-*").waitFor();
  await page.getByRole("combobox", { name: "Format" }).selectOption("PagerDuty");
  await page.getByText("must have X-Routing-Key", { exact: false }).waitFor();
  await page.getByRole("textbox", { name: "Routing key" }).fill("r0uting");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved Edited.").waitFor();
  const { data } = await w.server.api("GET", `/api/v1/webhooks/${id}`);
  expect(data.attributes.headers).toEqual([{ name: "X-Routing-Key", value: "r0uting" }]);
  await page.getByRole("button", { name: "Rotate secret…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("created", { exact: false }).first().waitFor();
  expect(await page.getByText("r0uting").count()).toBe(0);
  await page.getByRole("switch", { name: "Enabled" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Edited is disabled.").waitFor();
  await page.getByText("nothing is sent", { exact: false }).waitFor();
  await page.getByRole("switch", { name: "Enabled" }).click();
  await page.getByText("Edited is enabled.").waitFor();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted Edited.").waitFor();
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
});

test("a member is told that webhooks require an admin, and finds none", async () => {
  const id = await webhook("Hidden", "/ok");
  const made = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "member", role: "MEMBER" } },
  });
  const page = await w.open("/webhooks", { key: made.data.attributes.key });
  await page.getByText("Requires the role Admin.").waitFor();
  expect(await page.getByRole("button", { name: "New webhook" }).isDisabled()).toBe(true);
  await page.goto(`/webhooks/${id}`);
  await page.getByText("Requires the role Admin.").waitFor();
  await expectAccessible(page);
});

test("the keyboard alone finds a webhook in the palette, opens a delivery and sends it again", async () => {
  const id = await webhook("By keys", "/ok");
  await flag("for-keys");
  const page = await w.open(`/webhooks/${id}`);
  await page.getByRole("button", { name: "Delivered" }).first().waitFor();
  await page.goto("/");
  await page.getByText("Live").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type("By keys");
  await page.getByRole("option", { name: "By keys" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("grid", { name: "Deliveries" }).waitFor();
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: "change.flag" });
  await panel.getByText("HTTP 200").waitFor();
  await tabTo(page, panel.getByRole("button", { name: "Send again" }));
  await page.keyboard.press("Enter");
  await page.getByText("It is sent again, with the same id.").waitFor();
});

test("a phone shows webhooks and their deliveries", async () => {
  const id = await webhook("Pocket", "/ok");
  await flag("for-pocket");
  const page = await w.open("/webhooks?q=Pocket", { viewport: { width: 390, height: 800 }, hasTouch: true });
  await page.getByRole("link", { name: "Pocket" }).tap();
  await page.waitForURL(new RegExp(id));
  await page.getByText("Delivered").first().waitFor();
  await expectAccessible(page);
});
