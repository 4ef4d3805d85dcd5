import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { fixture, tabTo, test } from "./harness";

const w = fixture();

test("somebody is invited by a link, joins, gets another role and a reset link, and is removed", async () => {
  const page = await w.open("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("textbox", { name: "E-mail", exact: true }).fill("grace@example.com");
  await page.getByRole("button", { name: "Create the link" }).click();
  const shown = page.getByRole("status", { name: "The link for grace@example.com" });
  const link = new URL((await shown.locator("pre").textContent()) as string);
  await expectAccessible(page);

  const guest = await w.open(link.pathname + link.search, { key: "" });
  await guest.getByLabel("Name").fill("Grace Hopper");
  await guest.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByRole("navigation", { name: "Main" }).waitFor();

  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click(); // in the dialog, because a message has a button Close too
  await page.getByRole("button", { name: "Grace Hopper" }).click();
  const panel = page.getByRole("dialog", { name: "Grace Hopper" });
  await panel.getByText("Chrome on Linux").waitFor();
  await panel.getByLabel("Role").selectOption("VIEWER");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Grace Hopper has the role viewer.").waitFor();
  await panel.getByRole("button", { name: "Create a reset link" }).click();
  await panel.getByText("/reset?token=").waitFor();
  await panel.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("Grace Hopper no longer has access.").waitFor();
});

test("a key is made, shown once and revoked with the keyboard alone", async () => {
  const page = await w.open("/keys");
  await tabTo(page, page.getByRole("button", { name: "New key" }));
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: "New key" });
  await panel.waitFor();
  for (const key of ["Tab", "Tab"]) await page.keyboard.press(key);
  await page.keyboard.type("checkout service");
  await page.keyboard.press("Enter");
  const shown = panel.getByRole("status", { name: "The key checkout service" });
  const key = (await shown.locator("pre").textContent()) as string;
  expect(key).toMatch(/^sk_api_/);
  await shown.and(page.locator(":focus")).waitFor(); // the form with the focus is gone
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });

  await page.keyboard.press("/");
  await page.keyboard.type("checkout");
  await page.waitForFunction(() => document.querySelectorAll("[data-cell$=':0']").length === 1);
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Revoke…" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Revoke", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "checkout service" }).getByText("It no longer works.").waitFor();
  expect((await fetch(`${w.server.url}/api/v1/flags`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(401);
});

test("a browser's key has one environment, and the server's refusal is beside its member", async () => {
  const page = await w.open("/keys?new=1");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("web shop");
  await page.getByRole("combobox", { name: "For" }).selectOption("evaluate");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Production").check();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("status", { name: "The key web shop" }).waitFor();
  await page.getByText("/ofrep/v1/evaluate/flags").waitFor();
});

test("a member sees why people are not shown", async () => {
  const made = await w.server.api("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "member", role: "MEMBER" } },
  });
  const page = await w.open("/people", { key: made.data.attributes.key as string });
  await page.getByText("Only admins see who has access").waitFor();
  expect(await page.getByRole("button", { name: "Invite" }).isDisabled()).toBe(true);
});
