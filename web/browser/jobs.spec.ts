import { createServer, type Server as Receiver } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, tabTo, test } from "./harness";

let receiver: Receiver;
let hook: string;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    if (request.url === "/never") return; // no answer until the run is canceled
    response.writeHead(request.url === "/fail" ? 503 : 200, { "Content-Type": "application/json" });
    response.end('{"rows":[1,2],"ok":true}');
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const w = fixture();

const job = (id: string, path: string, attributes: Record<string, unknown> = {}) =>
  w.server.api(
    "POST",
    "/api/v1/jobs",
    envelope("job", id, { name: id, schedule: "30 2 * * *", configuration: { url: hook + path, method: "GET" }, ...attributes }),
  );

test("an empty list teaches, and a new job is checked while it is typed and run at once", async () => {
  const page = await w.open("/jobs");
  await page.getByText("No jobs yet").waitFor();
  await page.getByText("signalbox jobs create", { exact: false }).waitFor();
  await page.locator(".empty").getByRole("button", { name: "New job" }).click();
  await page.getByRole("button", { name: "Paste a curl command" }).click();
  await page.getByLabel("A curl command").fill("curl -X PATCH nowhere -H 'Accept: text/plain'");
  await page.getByRole("button", { name: "Fill the form" }).click();
  expect(await page.getByLabel("Method").inputValue()).toBe("PATCH");
  await page.getByRole("button", { name: "Remove header 1" }).click();
  await page.getByLabel("Id").fill("nightly");
  await page.getByLabel("Schedule", { exact: false }).first().fill("30 2 * *");
  await page.getByText("must have five fields", { exact: false }).waitFor();
  await page.getByLabel("URL").fill("nowhere");
  await page.getByText("must be an absolute URL", { exact: false }).waitFor();
  await page.getByLabel("Schedule", { exact: false }).first().fill("30 2 * * *");
  await page.getByText("At 02:30, UTC").waitFor();
  const fires = page.getByRole("list", { name: "Next fire times" }).getByRole("listitem");
  await fires.nth(4).waitFor();
  expect(await fires.count()).toBe(5);
  await page.getByLabel("URL").fill(`${hook}/ok`);
  await page.getByRole("button", { name: "Add a header" }).click();
  await page.getByLabel("Name of header 1").fill("Authorization");
  await page.getByLabel("Value of header 1", { exact: true }).fill("Bearer secret");
  expect(await page.getByLabel("Value of header 1", { exact: true }).getAttribute("type")).toBe("password");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save and run now" }).click();
  await page.getByRole("heading", { name: "Run" }).waitFor();
  await page.getByText("HTTP 200").first().waitFor();
  await page.getByRole("region", { name: "Response" }).getByText('"rows"', { exact: false }).waitFor();
  expect(await page.getByText("Bearer secret").count()).toBe(0);
  await expectAccessible(page);
});

test("a failure is explained and run again; one that hangs is canceled", async () => {
  await Promise.all([job("failing", "/fail"), job("hanging", "/never")]);
  const page = await w.open("/jobs/failing");
  await page.getByText("It has not run yet").waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("The receiver answered 503; the job counts 2xx as a success.").waitFor();
  const before = page.url();
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => url.href !== before);
  await page.getByRole("link", { name: "this run" }).waitFor();
  await page.getByText("The receiver answered 503", { exact: false }).waitFor();
  await page.goto("/");
  await page.getByRole("region", { name: "Needs attention" }).getByText("HTTP 503, 2 failures in a row").waitFor();
  await page.goto("/jobs/hanging");
  await page.getByRole("button", { name: "Run now" }).click();
  const timing = page.getByRole("region", { name: "Timing" });
  await timing.getByText("Running").waitFor();
  await timing.getByText(/^[1-9]\d* s so far$/).waitFor();
  await page.getByText("Waiting for the answer.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText(/^Canceled with the key ./).waitFor();
  await page.getByText("No answer came.").waitFor();
});

test("the keyboard alone finds a job, pauses it, and opens its last run", async () => {
  await job("by-keys", "/ok");
  await w.server.api("POST", "/api/v1/jobs/by-keys/actions/run");
  const page = await w.open("/jobs");
  await page.getByRole("grid", { name: "Jobs" }).waitFor();
  const searching = () => page.waitForFunction(() => document.activeElement?.tagName === "INPUT", undefined, { timeout: 2000 });
  do
    await page.keyboard.press("/"); // the list listens for keys a moment after it is shown
  while (!(await searching().catch(() => false)));
  await page.keyboard.type("by-keys");
  await page.waitForURL(/q=by-keys/);
  await page.waitForFunction(() => document.querySelectorAll("[data-cell$=':0']").length === 1);
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  for (let column = 0; column < 6; column++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByText("by-keys is paused", { exact: false }).waitFor();
  await page.getByText("paused", { exact: true }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("link", { name: "Last run of by-keys" }).getByText("Succeeded").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Run" }).waitFor();
});

test("the list follows runs by itself, and the switch can be undone", async () => {
  await job("watched", "/ok");
  const page = await w.open("/jobs?q=watched");
  await page.getByText("never ran").waitFor();
  await page.getByRole("switch", { name: "watched is enabled" }).click();
  await page.getByText("watched is paused", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("Undone.").waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[aria-label="watched is enabled"]')?.checked);
  await w.server.api("POST", "/api/v1/jobs/watched/actions/run");
  await w.server.api("PUT", "/api/v1/jobs/watched", await touched("watched")); // an event, as any change of a job
  await page.getByRole("link", { name: "Last run of watched" }).getByText("Succeeded").waitFor();
  await page.getByRole("img", { name: "Last 1 run: 0 failed", exact: false }).waitFor();
  await expectAccessible(page);
});

test("Undo reverts one's own change, and a colleague's in the same moment stays", async () => {
  await job("undone", "/ok");
  const page = await w.open("/jobs?q=undone");
  await page.getByRole("switch", { name: "undone is enabled" }).click();
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await undo.waitFor();
  await w.server.api("PUT", "/api/v1/jobs/undone", await touched("undone"));
  await undo.click();
  await page
    .getByRole("alert")
    .getByText(/^Undo: failed/)
    .waitFor();
  const { data } = await w.server.api("GET", "/api/v1/jobs/undone");
  expect(data.attributes.description).toBe("touched");
});

async function touched(id: string) {
  const { data } = await w.server.api("GET", `/api/v1/jobs/${id}`);
  return { data: { id, type: "job", attributes: { ...data.attributes, description: "touched" } } };
}

test("a job has a zone and retries; its attempts are one row that unfolds, and its health a pill", async () => {
  await job("zoned", "/fail");
  const page = await w.open("/jobs/zoned?tab=edit");
  await page.getByRole("combobox", { name: "Time zone" }).fill("Berl");
  await page.getByRole("option", { name: "Europe/Berlin" }).click();
  await page.getByText("At 02:30, Europe/Berlin").first().waitFor();
  const around = page.getByRole("list", { name: "Fire times around the change of the clock" });
  await around.getByText("+01:00").first().waitFor();
  await around.getByText("+02:00").first().waitFor();
  await page.getByLabel("Attempt failed runs again").check();
  await page.getByLabel("Attempts", { exact: false }).last().fill("11");
  await page.getByText("must be a whole number from 2 to 10").waitFor();
  await page.getByLabel("Attempts", { exact: false }).last().fill("2");
  await page.getByLabel("Delay", { exact: false }).first().fill("1");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save and run now" }).click();
  await page.getByText("another one follows", { exact: false }).waitFor();
  await page.getByRole("link", { name: "zoned", exact: true }).click();
  const unfold = page.getByRole("button", { name: "2 attempts" });
  await unfold.waitFor();
  expect(await page.getByRole("grid", { name: "Runs" }).getByRole("row").count()).toBe(2);
  await unfold.click();
  await page.getByText("attempt 1").waitFor();
  await page.getByText("up to 2 attempts, 1 s apart").waitFor();
  await page.getByText("Failing", { exact: true }).waitFor();
  await page.goto("/jobs?health=failing&q=zoned");
  const grid = page.getByRole("grid", { name: "Jobs" });
  await grid.getByText("Failing", { exact: true }).waitFor();
  await grid.getByText("HTTP 503").waitFor();
  await expectAccessible(page);
});

test("a job's page has the fire time where one is, a wrong filter has no count, and an empty form nothing to save", async () => {
  await job("abroad", "/ok");
  const page = await w.open("/jobs/abroad", { timezoneId: "Asia/Tokyo" });
  await page.getByText(/11:30 where you are/).waitFor();
  await page.goto("/jobs?status=FOO");
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("banner").filter({ hasText: "Jobs" }).getByText("0", { exact: true }).count()).toBe(0);
  await page.goto("/jobs/new");
  expect(await page.getByRole("button", { name: "Save and run now" }).isDisabled()).toBe(true);
});

test("somebody else's change is shown, and mine goes on top of it", async () => {
  await job("shared", "/ok");
  const page = await w.open("/jobs/shared?tab=edit");
  await page.getByText("Live").waitFor();
  await page.getByLabel("URL").fill(`${hook}/mine`);
  await w.server.api("PUT", "/api/v1/jobs/shared", await touched("shared"));
  await page.getByText("Somebody changed this job while you were editing it.", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog", { name: "Somebody else changed this" }).getByRole("button", { name: "Apply mine on top" }).click();
  await page.getByText("Saved shared.").waitFor();
  const { data } = await w.server.api<{ data: { attributes: { description: string; configuration: { url: string } } } }>(
    "GET",
    "/api/v1/jobs/shared",
  );
  expect(data.attributes.description).toBe("touched");
  expect(data.attributes.configuration.url).toBe(`${hook}/mine`);
});

test("a viewer sees the form without secrets, and is told why it cannot be saved", async () => {
  await job("secret", "/ok", { configuration: { url: `${hook}/ok`, headers: [{ name: "Authorization", value: "Bearer s3cret" }] } });
  const made = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "viewer", role: "VIEWER" } },
  });
  const page = await w.open("/jobs/secret?tab=edit", { key: made.data.attributes.key });
  await page.getByText("Requires the role Member.").first().waitFor();
  expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  expect(await page.getByLabel("Value of header 1", { exact: true }).inputValue()).toBe("<redacted>");
});

test("a phone shows statistics, and deletes a job after its consequences", async () => {
  await job("gone", "/ok");
  await w.server.api("POST", "/api/v1/jobs/gone/actions/run");
  const page = await w.open("/jobs?q=gone", { viewport: { width: 390, height: 800 }, hasTouch: true });
  await page.getByRole("link", { name: "gone", exact: true }).tap();
  await page.getByRole("tab", { name: "Runs" }).waitFor();
  await page.getByText("Succeeded").first().waitFor();
  await page.getByRole("tab", { name: "Statistics" }).tap();
  await page.getByRole("figure", { name: "Runs of each day", exact: false }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete…" }).tap();
  const question = page.getByRole("dialog", { name: "Delete the job gone" });
  await question.getByText("The history of its runs stays", { exact: false }).waitFor();
  await question.getByRole("button", { name: "Delete" }).tap();
  await page.getByText("Deleted gone.").waitFor();
});

test("the keyboard alone makes a job and runs it", async () => {
  const page = await w.open("/jobs");
  await tabTo(page, page.getByRole("button", { name: "New job" }));
  await page.keyboard.press("Enter");
  for (const [label, text] of [
    ["Id", "typed"],
    ["Schedule", "0 4 * * *"],
    ["URL", `${hook}/ok`],
  ] as const) {
    await tabTo(page, page.getByRole("textbox", { name: label }).first());
    await page.keyboard.type(text);
  }
  await tabTo(page, page.getByRole("button", { name: "Save and run now" }));
  await page.keyboard.press("Enter");
  await page.getByText("HTTP 200").first().waitFor();
});
