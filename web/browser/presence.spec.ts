import type { Page } from "playwright-core";
import { expect } from "vitest";
import { answer, envelope, fixture, test } from "./harness";

/** These tests cover other situations of people: another host name, a wrong clock, two tabs, two people at once, back and forward. */
const w = fixture(async ({ api }) => {
  for (let at = 0; at < 120; at++) {
    const id = `flag-${String(at).padStart(3, "0")}`;
    await api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));
  }
  for (const id of ["tabs", "people"]) await api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));
  const job = { name: "Nightly", schedule: "0 3 * * *", enabled: true, configuration: { url: "http://127.0.0.1:1/", method: "GET" } };
  await api("POST", "/api/v1/jobs", envelope("job", "nightly", job));
});

/** elsewhere is the server's URL with a host name for which browsers offer no clipboard without HTTPS. */
const elsewhere = () => w.server.url.replace("127.0.0.1", "signalbox.test");

test("copying works over plain HTTP on another host name", async () => {
  const page = await w.open("about:blank", { key: "", fresh: true });
  await page.goto(`${elsewhere()}/flags/tabs?tab=code`);
  await page.getByRole("button", { name: "Sign in with an API key" }).click();
  await page.getByLabel("API key").fill(w.server.key);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Copy" }).last().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  const field = page.getByRole("button", { name: "Search" });
  await field.click();
  const search = page.getByRole("combobox", { name: "Search everything" });
  await search.waitFor();
  await page.keyboard.press("Control+v");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>("input[role=combobox]")?.value !== "");
  expect(await search.inputValue()).toBe("signalbox flags why tabs -e production user:alice");
});

test("Back returns to the place in a list", async () => {
  const page = await w.open("/flags?env=production");
  const row = page.getByRole("link", { name: "flag-090" });
  await page.getByRole("grid").evaluate((grid) => grid.scrollTo(0, 2700));
  await row.click();
  await page.getByRole("heading", { name: "flag-090" }).waitFor();
  await page.goBack();
  await row.waitFor();
  expect(await page.getByRole("grid").evaluate((grid) => Math.abs(grid.scrollTop - 2700))).toBeLessThan(64);
});

const focused = (page: Page) =>
  page.waitForFunction(
    () => document.activeElement && document.activeElement !== document.body && !document.querySelector("[role=dialog]"),
  );

test("the focus returns after every dialog", async () => {
  const page = await w.open("/flags?q=flag-00&env=production");
  const dialogs: [path: string, button: string | RegExp][] = [
    ["/flags?q=flag-00", "Columns"],
    ["/flags?q=flag-00", "New flag"],
    ["/configs", "New config"],
    ["/log-groups", "New group"],
    ["/environments", "New environment"],
    ["/people", "Invite"],
    ["/keys", "New key"],
    ["/keys", /^Owner key/],
  ];
  for (const [path, name] of dialogs) {
    await page.goto(path);
    const button = page.getByRole("button", { name }).first();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").locator(":focus").or(page.locator("[role=dialog]:focus")).first().waitFor();
    await page.keyboard.press("Escape");
    await focused(page);
    expect(await button.evaluate((element) => element === document.activeElement), `${path} ${name}`).toBe(true);
  }
});

for (const hours of [-1, 1]) {
  test(`a browser whose clock is ${hours} h off shows the server's times`, async () => {
    const page = await w.open("about:blank", { fresh: true });
    await page.clock.install({ time: Date.now() + hours * 3_600_000 });
    await page.goto("/history?kind=flag");
    await page.getByRole("row", { name: /people/ }).waitFor();
    const when = page.getByRole("row", { name: /people/ }).locator("time");
    await page.waitForFunction(() => /^(now|\d+ (s|min) ago)$/.test(document.querySelector("time")?.textContent ?? ""));
    expect(await when.first().textContent()).toMatch(/^(now|[1-9]\d? s ago|[1-9] min ago)$/);
    await page.goto("/jobs");
    await page.getByRole("row", { name: /Nightly/ }).waitFor();
    expect(await page.getByText("late", { exact: true }).count()).toBe(0);
  });
}

test("two tabs of one person keep their own drafts, and see each other's changes", async () => {
  const one = await w.open("/flags/tabs?tab=production");
  await one.getByRole("button", { name: "Add rule" }).click();
  await one.getByRole("textbox", { name: "Description" }).fill("Only in the first tab");
  const other = await one.context().newPage();
  await other.goto("/flags/tabs?tab=production");
  await other.getByRole("switch", { name: /On:/ }).click();
  await answer(other, "Switch tabs off in Production");
  await one.getByRole("switch", { name: /Off:/ }).waitFor();
  expect(await one.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Only in the first tab");
  await other.getByRole("button", { name: "Add rule" }).click();
  expect(await other.getByRole("textbox", { name: "Description" }).inputValue()).toBe("");
});

test("two people change one flag, and both changes stay", async () => {
  const { data } = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "second", role: "MEMBER" } },
  });
  const [one, other] = await Promise.all([
    w.open("/flags/people?tab=production"),
    w.open("/flags/people?tab=production", { key: data.attributes.key }),
  ]);
  await Promise.all([one, other].map((page) => page.getByText("Live").waitFor()));
  await one.getByRole("button", { name: "Add rule" }).click();
  await one.getByRole("textbox", { name: "Value" }).fill("alice");
  await other.getByRole("switch", { name: /On:/ }).click();
  await answer(other, "Switch people off in Production");
  await one.getByRole("switch", { name: /Off:/ }).waitFor();
  await one.getByRole("button", { name: "Add", exact: true }).click();
  await one.getByRole("dialog", { name: "Somebody else changed this" }).getByRole("button", { name: "Apply mine on top" }).click();
  await answer(one, /^Add a rule of people/);
  await one.getByRole("listitem", { name: "user.key is alice" }).waitFor();
  const { environments } = (await w.server.api("GET", "/api/v1/flags/people")).data.attributes as {
    environments: Record<string, { enabled: boolean; rules: unknown[] }>;
  };
  expect([environments.production?.enabled, environments.production?.rules.length]).toEqual([false, 1]);
});
