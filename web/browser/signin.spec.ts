import { expect } from "vitest";
import { expectAccessible, violations } from "./axe";
import { fixture, test } from "./harness";

const w = fixture();

test("the set-up link makes the owner, who signs out and in again", async () => {
  const link = /\S+\/setup\?token=\S+/.exec(w.server.command("admin", "users", "setup-link"))?.[0] as string;
  const page = await w.open(new URL(link).pathname + new URL(link).search, { key: "" });
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Create the owner" }).click();
  await page.getByRole("button", { name: "Signed in as Ada Lovelace" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();

  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByRole("textbox", { name: "Password" }).fill("wrong password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
});

test("a stranger is sent to the sign-in and comes back to where they were going", async () => {
  const page = await w.open("/flags?env=production", { key: "" });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Sign in with an API key" }).click();
  await page.getByLabel("API key").fill(w.server.key);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Flags" }).waitFor();
  expect(new URL(page.url()).search).toBe("?env=production");
});

test("the book finds what one types, for a stranger too", async () => {
  const page = await w.open("/docs", { key: "" });
  await page.getByRole("heading", { name: "The Signalbox book" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("rotate a key");
  await page.getByRole("link", { name: "How-tos › Rotate a key" }).click();
  await page.getByRole("heading", { name: "Rotate a key" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#rotate-a-key");
});

test("the reference asks nothing of another origin, in either theme", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await w.open("about:blank", { key: "", colorScheme });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto("/docs/api");
    await page.waitForFunction(() => document.querySelector("rapi-doc")?.shadowRoot?.textContent?.includes("/api/v1/flags"));
    expect(asked.filter((url) => !url.startsWith(w.server.url) && !url.startsWith("data:"))).toEqual([]);
    await page.getByRole("navigation", { name: "Operations" }).waitFor();
    expect(await violations(page)).toEqual([]);
  }
});

test("palette and keys work from anywhere", async () => {
  const page = await w.open("/");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).fill("environ");
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Environments" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.getByRole("heading", { name: "Log levels" }).waitFor();
});
