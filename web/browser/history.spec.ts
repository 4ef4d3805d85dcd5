import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, test } from "./harness";

const flag = (value: boolean) =>
  envelope("flag", "checkout", { name: "Checkout", type: "BOOLEAN", default: value, managed: true, environments: {} });

const w = fixture(async ({ api }) => {
  await api("POST", "/api/v1/flags", flag(false));
  await api("PUT", "/api/v1/flags/checkout", flag(true));
  await api("POST", "/api/v1/configs", envelope("config", "web", { name: "Web", items: {} }));
});

test("a change is found, compared and reverted after a look at what that does", async () => {
  const page = await w.open("/history");
  await page.getByRole("grid", { name: "Changes" }).getByRole("button", { name: "config web" }).waitFor();
  const sessions = page.getByRole("grid", { name: "Changes" }).getByRole("button", { name: /^session/ });
  expect(await sessions.count()).toBe(0);
  await page.getByLabel("Sign-ins").selectOption("1");
  await sessions.first().waitFor();
  await page.getByLabel("Kind").selectOption("flag");
  await page.getByLabel("Id", { exact: true }).fill("checkout");
  await page.getByLabel("Id", { exact: true }).press("Enter");
  await page.waitForURL(/id=checkout/);
  await page.getByRole("gridcell", { name: /Default false → true/ }).waitFor();

  await page
    .getByRole("row", { name: /Default false → true/ })
    .getByRole("button")
    .click();
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("cell", { name: '"default": false,' }).waitFor();
  await drawer.getByRole("cell", { name: '"default": true,' }).waitFor();
  await expectAccessible(page);
  await drawer.getByRole("button", { name: "Revert…" }).click();
  await drawer.getByRole("button", { name: "Revert", exact: true }).click();
  await page.getByRole("gridcell", { name: /Default true → false/ }).waitFor();
  expect((await w.server.api("GET", "/api/v1/flags/checkout")).data.attributes.default).toBe(false);
});

test("a colleague's change appears by itself, and the link shows the same", async () => {
  const page = await w.open("/history?kind=config&id=web");
  await page.getByRole("gridcell", { name: "created" }).waitFor();
  await w.server.api("PUT", "/api/v1/configs/web", envelope("config", "web", { name: "Web shop", items: {} }));
  await page.getByRole("gridcell", { name: /Name Web → "Web shop"/ }).waitFor();
});

test("with the keyboard alone", async () => {
  const page = await w.open("/history?kind=config&id=web");
  await page.getByRole("gridcell").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("created the config").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(page.url()).not.toContain("change=");
});

test("a viewer sees why there is no way back, and a phone shows cards", async () => {
  const made = await w.server.api("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "viewer", role: "VIEWER" } },
  });
  const page = await w.open("/history?kind=flag&id=checkout", {
    key: made.data.attributes.key as string,
    viewport: { width: 390, height: 780 },
  });
  await page.getByRole("gridcell").first().getByRole("button").click();
  expect(await page.getByRole("button", { name: "Revert…" }).isDisabled()).toBe(true);
});
