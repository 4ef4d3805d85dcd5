import type { Page } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible, violations } from "./axe";
import { fixture, test } from "./harness";

const w = fixture();

/** watchErrors notes in the session's storage that the page showed an error, however briefly. */
const watchErrors = (page: Page) =>
  page.addInitScript(() => {
    const look = () => {
      const shown = document.querySelector(".error, .empty [role=alert]");
      if (shown) sessionStorage.setItem("error", shown.outerHTML);
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });

const errorOf = (page: Page) => page.evaluate(() => sessionStorage.getItem("error"));

test("the set-up link makes the owner, who signs out and in again", async () => {
  const link = /\S+\/setup\?token=\S+/.exec(w.server.command("admin", "users", "setup-link"))?.[0] as string;
  const page = await w.open("about:blank", { key: "" });
  await watchErrors(page);
  await page.goto(new URL(link).pathname + new URL(link).search);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Create the owner" }).click();
  await page.getByRole("button", { name: "Signed in as Ada Lovelace" }).click();
  expect(await errorOf(page)).toBeNull();
  await page.getByRole("button", { name: "Sign out" }).click();

  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByRole("textbox", { name: "Password" }).fill("wrong password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(await errorOf(page)).toBeNull();
});

test("a join link leads to Home without an error on the way", async () => {
  const link = /\S+\/join\?token=\S+/.exec(w.server.command("admin", "users", "invite", "grace@example.com"))?.[0] as string;
  const page = await w.open("about:blank", { key: "" });
  await watchErrors(page);
  await page.goto(new URL(link).pathname + new URL(link).search);
  await page.getByLabel("Name").fill("Grace Hopper");
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  expect(await errorOf(page)).toBeNull();
});

test("every empty list has its first action", async () => {
  const page = await w.open("/");
  for (const [path, action, form] of [
    ["/flags", "New flag", "dialog"],
    ["/configs", "New config", "dialog"],
    ["/log-groups", "New group", "dialog"],
    ["/jobs", "New job", "form"],
    ["/webhooks", "New webhook", "form"],
    ["/loggers", "New key for a service", "dialog"],
    ["/services", "New key for a service", "dialog"],
    ["/services/contexts", "New key for a service", "dialog"],
  ] as const) {
    await page.goto(path);
    await page.locator(".empty").getByRole("button", { name: action }).click();
    await page
      .locator(form === "form" ? "form" : "[role=dialog] form")
      .first()
      .waitFor();
  }
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
