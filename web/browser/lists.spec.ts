import type { Page } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, tabTo, test } from "./harness";

/** These tests are about long lists: their order, their columns, and actions on many rows. */
const w = fixture(async ({ api }) => {
  const flag = (id: string, more = {}) => api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false, ...more }));
  await flag("alpha");
  await flag("beta", { type: "STRING", default: "b" });
  await flag("gamma", { environments: { production: { enabled: false } } });
  await flag("delta");
  const reports = ["shop", "shop.cart", "web"].map((id, at) => {
    const level = ["INFO", "DEBUG", "ERROR"][at];
    return { id, service: "checkout", environment: "production", level, resolved_level: level };
  });
  await api("POST", "/api/v1/loggers/bulk", { loggers: reports });
  const configuration = { method: "GET", url: "http://127.0.0.1:1/" };
  for (const [id, schedule] of Object.entries({ later: "0 0 1 1 *", soon: "* * * * *" }))
    await api("POST", "/api/v1/jobs", envelope("job", id, { name: id, schedule, configuration }));
  await api("POST", "/api/v1/configs", envelope("config", "base", { items: { a: { value: 1 } } }));
  await api("POST", "/api/v1/configs", envelope("config", "app", { parent: "base", items: { b: { value: 1 }, c: { value: 1 } } }));
});

const names = (page: Page) => page.locator('[data-cell$=":0"]').evaluateAll((cells) => cells.map((cell) => cell.textContent));

const inOrder = (page: Page, ...wanted: string[]) =>
  page.waitForFunction(
    (wanted) => [...document.querySelectorAll('[data-cell$=":0"]')].map((cell) => cell.textContent).join() === wanted,
    wanted.join(),
  );

test("a click on a header orders the list, and the link keeps the order", async () => {
  const page = await w.open("/flags?env=production");
  await inOrder(page, "alpha", "beta", "delta", "gamma");
  await page.getByRole("button", { name: "Flag", exact: true }).click();
  await inOrder(page, "gamma", "delta", "beta", "alpha");
  const head = page.getByRole("columnheader", { name: "Type" });
  await head.getByRole("button").click();
  await inOrder(page, "alpha", "delta", "gamma", "beta");
  expect(await head.getAttribute("aria-sort")).toBe("ascending");
  await page.reload();
  await inOrder(page, "alpha", "delta", "gamma", "beta");
  await page.goto("/loggers?view=list&env=production");
  await page
    .getByRole("columnheader", { name: /Production/ })
    .getByRole("button")
    .click();
  await inOrder(page, "shop.cart", "shop", "web");
  await expectAccessible(page);
});

test("columns are chosen, and the link keeps the choice", async () => {
  const page = await w.open("/flags?env=production");
  await page.getByRole("button", { name: "Columns" }).click();
  const dialog = page.getByRole("dialog", { name: "Columns" });
  await dialog.getByLabel("Type").uncheck();
  await dialog.getByLabel("Changed").check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.reload();
  await page.getByRole("columnheader", { name: "Changed" }).waitFor();
  expect(await page.getByRole("columnheader", { name: "Type" }).count()).toBe(0);
});

test("jobs and configs have the same orders and columns as flags", async () => {
  const page = await w.open("/jobs");
  await inOrder(page, "soon", "later"); // the newest first
  const next = page.getByRole("columnheader", { name: "Next fire" });
  for (const direction of ["ascending", "descending"]) {
    await next.getByRole("button").click();
    await next.and(page.locator(`[aria-sort=${direction}]`)).waitFor();
  }
  await inOrder(page, "later", "soon");
  await page.getByRole("button", { name: "Columns" }).click();
  const dialog = page.getByRole("dialog", { name: "Columns" });
  await dialog.getByLabel("Health").uncheck();
  await dialog.getByLabel("Request").check();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.reload();
  await page.getByRole("columnheader", { name: "Request" }).waitFor();
  expect(await page.getByRole("columnheader", { name: "Health" }).count()).toBe(0);
  await inOrder(page, "later", "soon");
  await expectAccessible(page);

  await page.goto("/configs?env=production");
  await page.getByRole("link", { name: "app" }).waitFor();
  const tree = (await names(page)).map(String);
  const items = page.getByRole("columnheader", { name: "Own items" }).getByRole("button");
  await items.click();
  await inOrder(page, "app", "base", "common");
  await page.getByRole("columnheader", { name: "Inherits from" }).waitFor();
  await items.click();
  await inOrder(page, "common", "base", "app");
  await items.click();
  await inOrder(page, ...tree);
});

/** enabled returns which of the flags are on in production. */
async function enabled(): Promise<string[]> {
  const { data } = await w.server.api<{
    data: { id: string; attributes: { environments: Record<string, { enabled: boolean }> } }[];
  }>("GET", "/api/v1/flags");
  return data.filter(({ attributes }) => attributes.environments.production?.enabled !== false).map(({ id }) => id);
}

test("many flags are switched with one look at what that does, and switched back; what stays as it is, is not touched", async () => {
  const page = await w.open("/flags?env=production");
  const box = (name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) }).getByRole("checkbox", { name: "Select" });
  await box("beta").click();
  await box("gamma").click({ modifiers: ["Shift"] });
  const bar = page.getByRole("region", { name: "Selected" });
  await bar.getByText("3 selected").waitFor();
  await expectAccessible(page);
  await bar.getByRole("button", { name: "Switch off" }).click();
  const dialog = page.getByRole("dialog", { name: "Switch 3 flags off in Production" });
  const what = dialog.getByRole("list", { name: "What this does" });
  await what.getByText("Turned off").first().waitFor();
  expect(await what.getByText("Turned off").count()).toBe(2);
  await what.getByText("stays as it is").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Switch off 2" }).click();
  await page.getByText("Switched 2 flags off in Production.").waitFor();
  await bar.waitFor({ state: "detached" });
  expect(await enabled()).toEqual(["alpha"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  expect(await enabled()).toEqual(["alpha", "beta", "delta"]);
});

test("the keyboard alone selects loggers and sets their level", async () => {
  const page = await w.open("/loggers?view=list&env=production");
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  for (const key of ["x", "ArrowDown", "x"]) await page.keyboard.press(key);
  const bar = page.getByRole("region", { name: "Selected" });
  await bar.getByText("2 selected").waitFor();
  await tabTo(page, bar.getByRole("button", { name: "Set level" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Set 2 loggers to DEBUG in Production for 15 min" });
  await dialog.getByText("Level set to DEBUG").first().waitFor();
  await tabTo(page, dialog.getByRole("button", { name: "Set DEBUG for 2" }));
  await page.keyboard.press("Enter");
  await page.getByText("2 loggers are DEBUG in Production for 15 min.").waitFor();
  await page.getByRole("button", { name: /^Level of shop in Production: DEBUG own/ }).waitFor();
  expect(await names(page)).toEqual(["shop", "shop.cart", "web"]);
  await expectAccessible(page);
});

test("cards on a phone have room for every environment, also if the environments are loaded last", async () => {
  const page = await w.open("about:blank", { viewport: { width: 390, height: 800 }, hasTouch: true });
  let load = () => {};
  const listed = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route(/\/api\/v1\/environments/, async (route) => {
    await listed;
    await route.continue();
  });
  await page.goto("/flags");
  await page.getByRole("link", { name: "alpha" }).waitFor();
  load();
  await page.getByRole("switch", { name: "alpha in Production" }).waitFor();
  await page.waitForFunction(() => {
    const cards = [...document.querySelectorAll('[data-cell$=":0"]')];
    return cards.length > 0 && cards.every((card) => card.scrollHeight <= card.clientHeight + 1);
  });
});

test("the next fire time of a job is whole on a screen of 1280 pixels", async () => {
  const page = await w.open("/jobs", { viewport: { width: 1280, height: 800 } });
  const cell = page.getByRole("gridcell", { name: /-01-01 00:00 UTC$/ });
  await cell.waitFor();
  expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  expect(await page.getByRole("grid").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});
