import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, test } from "./harness";

const w = fixture(async ({ api }) => {
  await api("PUT", "/api/v1/environments/staging", envelope("environment", "staging", { name: "Staging", managed: true }));
  await api("POST", "/api/v1/environments", envelope("environment", "test", { name: "Test", color: "#3f7fd1" }));
  await api("PUT", "/api/v1/loggers/shop", envelope("logger", "shop", { managed: true, environments: { test: { level: "DEBUG" } } }));
  await api("POST", "/api/v1/contexts/bulk", { contexts: [{ type: "environment", key: "ci-1" }] });
});

const order = async () =>
  (await w.server.api<{ environment_order: string[] }>("GET", "/api/v1/accounts/current/settings")).environment_order;

test("environments are put in order with the keyboard alone", async () => {
  const page = await w.open("/environments");
  const before = await order();
  await page.getByRole("button", { name: "Move Test" }).focus();
  await page.keyboard.press("Space");
  for (const _ of before) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Space");
  await page.getByText("The order is test, ").waitFor();
  expect((await order())[0]).toBe("test");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  expect(await order()).toEqual(before);
});

test("lists have the account's order", async () => {
  const arrange = (order: string[]) => w.server.api("PUT", "/api/v1/accounts/current/settings", { environment_order: order });
  const before = await order();
  await arrange(["test", "staging", "production"]);
  const page = await w.open("/loggers");
  const heads = page.getByRole("columnheader");
  await heads.filter({ hasText: "Test" }).waitFor();
  const shown = async () => (await heads.allTextContents()).slice(2).map((text) => text.trim());
  expect(await shown()).toEqual(["Test", "Staging", "Production"]);
  const choices = await page.getByLabel("Environment in focus").locator("option").allTextContents();
  expect(choices.slice(1, 4)).toEqual(["Test", "Staging", "Production"]);
  await arrange(["production", "staging", "test"]);
  await page.reload();
  await heads.filter({ hasText: "Test" }).waitFor();
  expect(await shown()).toEqual(["Production", "Staging", "Test"]);
  await arrange(before);
});

test("lists show the environments that were chosen, and keep the choice as a view", async () => {
  const page = await w.open("/loggers");
  const heads = page.getByRole("columnheader");
  await heads.filter({ hasText: "Test" }).waitFor();
  await page.getByLabel("Environment in focus").selectOption("Several…");
  const dialog = page.getByRole("dialog", { name: "Show environments" });
  await dialog.getByLabel("Search environments").fill("stag");
  await dialog.getByLabel("Staging").uncheck();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Show 2" }).click();
  await heads.filter({ hasText: "Staging" }).waitFor({ state: "detached" });
  expect(await heads.filter({ hasText: /Production|Test/ }).count()).toBe(2);
  await page.getByLabel("Saved view").selectOption("Save this view…");
  await page.getByLabel("Name", { exact: true }).fill("Mine");
  await page.keyboard.press("Enter");
  await page.getByLabel("Saved view").selectOption("Everything");
  await heads.filter({ hasText: "Staging" }).waitFor();
  await page.goto(new URL("/loggers", page.url()).href);
  await page.getByLabel("Saved view").selectOption("Mine");
  await heads.filter({ hasText: "Staging" }).waitFor({ state: "detached" });
  await page.getByLabel("Saved view").selectOption("Remove this view");
  await page.getByLabel("Saved view").selectOption("Everything");
  await page.getByLabel("Saved view").waitFor({ state: "detached" });
});

test("an environment is dragged to its place", async () => {
  const page = await w.open("/environments");
  const items = page.getByRole("list", { name: "Environments in order" }).getByRole("listitem");
  await items.filter({ hasText: "Production" }).dragTo(items.first());
  await page.getByText("The order is production, ").waitFor();
  expect((await order())[0]).toBe("production");
});

test("one is frozen with its consequences", async () => {
  const page = await w.open("/environments");
  await page.getByRole("heading", { name: "Ad hoc" }).waitFor();
  await page.getByRole("button", { name: /Test test/ }).click();
  const panel = page.getByRole("dialog", { name: "Test" });
  await panel.getByText("It stores 1 log level.").waitFor();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Freeze…" }).click();
  await page.getByText("It has 1 log level. These values stay").waitFor();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("test is frozen.").waitFor();
  expect((await w.server.api("GET", "/api/v1/environments/test")).data.attributes.managed).toBe(false);
});

test("one is deleted with its values, and another is made", async () => {
  const page = await w.open("/environments?id=test");
  const panel = page.getByRole("dialog", { name: "Test" });
  await panel.getByLabel("Delete 1 log level as well").check();
  await panel.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Deleted test.").waitFor();
  expect((await w.server.api("GET", "/api/v1/loggers/shop")).data.attributes.environments).toEqual({});

  await page.getByRole("button", { name: "New environment" }).click();
  await page.getByRole("textbox", { name: "Id" }).fill("preview");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog", { name: "preview" }).getByText("Managed", { exact: true }).waitFor();
});

test("a member reads, and sees why nothing can be changed", async () => {
  const made = await w.server.api("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "member", role: "MEMBER" } },
  });
  const page = await w.open("/environments?id=staging", { key: made.data.attributes.key as string, viewport: { width: 390, height: 780 } });
  await page.getByTitle("Requires the role Admin.").first().waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
});
