import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { fixture, test } from "./harness";

const w = fixture();
const password = "correct horse battery";

test("the account is renamed, my order changed, my password replaced and another session ended", async () => {
  const link = /\S+\/setup\?token=(\S+)/.exec(w.server.command("admin", "users", "setup-link"))?.[1] as string;
  await w.server.api("POST", "/api/v1/links/redeem", { token: link, email: "ada@example.com", name: "Ada", password });
  const page = await w.open("/sign-in?next=/settings", { key: "" });
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();

  const account = page.getByRole("region", { name: "Account" });
  await account.getByLabel("Name").fill("Shop");
  await account.getByRole("button", { name: "Save" }).click();
  await page.getByText("The account is called Shop.").waitFor();

  await page.getByRole("button", { name: "Move Staging" }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await page.getByText("Your order is production, staging.").waitFor();

  await page.getByRole("button", { name: "End…" }).first().click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("Ended the session.").waitFor();

  await page.getByLabel("Current password").fill(password);
  await page.getByLabel("New password").fill("another good password");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("Changed your password.").waitFor();

  await page.getByRole("combobox", { name: "Theme" }).selectOption("light");
  expect(await page.evaluate(() => document.documentElement.dataset.mantineColorScheme)).toBe("light");
});

test("a code signs a terminal in, which is listed and can be ended", async () => {
  const link = /\S+\/join\?token=(\S+)/.exec(w.server.command("admin", "users", "invite", "grace@example.com"))?.[1] as string;
  await w.server.api("POST", "/api/v1/links/redeem", { token: link, name: "Grace", password });
  const page = await w.open("/terminal", { key: "" }); // the address that signalbox login prints, without a session
  await page.getByLabel("E-mail").fill("grace@example.com");
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Show a code" }).click();
  const code = (await page.getByRole("status", { name: "The code" }).locator("pre").textContent()) as string;
  await expectAccessible(page);
  const headers = { "Content-Type": "application/json", "User-Agent": "signalbox-cli/1.0 (laptop)" };
  await fetch(`${w.server.url}/api/v1/sessions`, { method: "POST", headers, body: JSON.stringify({ code }) });
  await page.getByRole("button", { name: "Signed in as Grace" }).click();
  await page.getByRole("link", { name: "Settings" }).last().click();
  await page.getByText("Command line on laptop").waitFor();
});

test("the page is accessible, also on a phone", async () => {
  const page = await w.open("/settings", { viewport: { width: 390, height: 780 } });
  await page.getByText("You are signed in with a key").waitFor();
  await expectAccessible(page);
});
