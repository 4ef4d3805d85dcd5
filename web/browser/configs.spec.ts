import type { Page } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, tabTo, test } from "./harness";

const schema = { type: "object", required: ["port"], properties: { port: { type: "integer" } } };

const w = fixture(async (server) => {
  await server.api("POST", "/api/v1/environments", envelope("environment", "development", { name: "Development" }));
  const config = (id: string, attributes: Record<string, unknown>) =>
    server.api("POST", "/api/v1/configs", envelope("config", id, attributes));
  await config("shop", {
    items: { currency: { value: "EUR" }, timeout_ms: { value: 1500 } },
    environments: { production: { timeout_ms: 800 } },
  });
  await config("checkout", {
    name: "Checkout",
    parent: "shop",
    items: { retries: { value: 3 }, express: { value: false }, database: { value: { host: "db", port: 5432 }, type: "JSON", schema } },
    environments: { development: { retries: 9, express: true } },
  });
  await config("texts", { items: { greeting: { value: "Hello" }, address: { value: "Line 1\nLine 2" } } });
  for (const id of ["keys", "watched", "short", "thumb"]) await config(id, { items: { limit: { value: 1 } } });
});

/** value returns the button of a cell. */
const value = (page: Page, key: string, where: string) => page.getByRole("button", { name: new RegExp(`^${key} (in )?${where}: `) });

test("a new config gets an item, and production another value after its diff", async () => {
  const page = await w.open("/configs");
  await page.getByRole("button", { name: "New config" }).click();
  await page.getByLabel("Id").fill("search");
  await page.getByLabel("Inherits from").selectOption("shop");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const item = page.getByRole("dialog", { name: "New item of search" });
  await item.getByLabel("Key").fill("page_size");
  await item.getByLabel("Type").selectOption("NUMBER");
  await item.getByLabel("Default").fill("20");
  await item.getByRole("button", { name: "Add the item" }).click();
  await page.getByText("Saved page_size of search.").waitFor();
  await page.getByRole("button", { name: "timeout_ms in Production: 800 ↑ shop, production" }).waitFor();
  await value(page, "page_size", "Production").click();
  await page.getByRole("textbox", { name: "page_size in Production" }).fill("50");
  await page.getByRole("button", { name: "Override" }).click();
  const question = page.getByRole("dialog", { name: "Set page_size of search in Production" });
  await question.getByRole("listitem").getByText("page_size", { exact: false }).waitFor();
  await question.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: "page_size in Production: 50 set here" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Undo", exact: true }).last().click();
  await page.getByRole("button", { name: "page_size in Production: 20 default" }).waitFor();
  await page.goto("/configs");
  await page.getByRole("link", { name: "search" }).waitFor();
  await expectAccessible(page);
});

test("a JSON value is refused by its schema while it is typed, and fits then", async () => {
  const page = await w.open("/configs/checkout?edit=database@production");
  const editor = page.getByRole("textbox", { name: "database in Production" });
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"port": "many"}');
  await page.getByText("does not fit the schema", { exact: false }).waitFor();
  await expectAccessible(page);
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"port": 6432}');
  await page.getByText("does not fit the schema", { exact: false }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Override" }).click();
  await page.getByRole("dialog", { name: "Set database of checkout in Production" }).getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: 'database in Production: {"host":"db","port":6432} set here' }).waitFor();
});

test("an item with a schema gets another type, and loses the schema", async () => {
  const items = { limits: { value: { port: 5432 }, type: "JSON", schema } };
  await w.server.api("POST", "/api/v1/configs", envelope("config", "retyped", { items }));
  const page = await w.open("/configs/retyped?item=limits");
  const item = page.getByRole("dialog", { name: "limits of retyped" });
  await item.getByLabel("Type").selectOption("STRING");
  await item.getByLabel("Default").fill("none");
  await item.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: "Change limits of retyped" }).getByRole("button", { name: "Apply" }).click();
  await page.getByText("Saved limits of retyped.").waitFor();
  const { data } = await w.server.api("GET", "/api/v1/configs/retyped");
  expect(data.attributes.items).toEqual({ limits: { type: "STRING", value: "none", description: null } });
});

test("two environments are compared, and values copied through a diff", async () => {
  const page = await w.open("/configs/checkout?tab=compare&from=development&to=production");
  await page.getByRole("checkbox", { name: "Choose retries" }).check();
  await page.getByRole("checkbox", { name: "Choose express" }).check();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Copy 2 values to Production…" }).click();
  const question = page.getByRole("dialog", { name: "Copy 2 values of checkout from Development to Production" });
  await question.getByText("production: retries 3 → 9").waitFor();
  await question.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("checkbox", { name: "Choose retries" }).waitFor({ state: "detached" });
  const { data } = await w.server.api<{ data: { attributes: { values: Record<string, unknown> } } }>(
    "GET",
    "/api/v1/configs/checkout/resolved?environment=production",
  );
  expect(data.attributes.values).toMatchObject({ retries: 9, express: true, timeout_ms: 800 });
});

test("a long text is typed in one field, and its lines stay", async () => {
  const page = await w.open("/configs/texts?edit=greeting@development");
  const field = page.getByRole("textbox", { name: "greeting in Development" });
  const text = `${"a".repeat(50)} gj and gf stay here`;
  await field.fill("");
  await page.keyboard.type(text);
  expect(await field.inputValue()).toBe(text);
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second");
  await page.keyboard.press("Enter");
  await field.waitFor({ state: "detached" });
  await page.goto("/configs/texts?edit=address@development");
  const address = page.getByRole("textbox", { name: "address in Development" });
  await address.press("Control+End");
  await page.keyboard.type("!");
  await page.getByRole("button", { name: "Override" }).click();
  await address.waitFor({ state: "detached" });
  const { data } = await w.server.api("GET", "/api/v1/configs/texts");
  expect(data.attributes.environments).toEqual({ development: { greeting: `${text}\nsecond`, address: "Line 1\nLine 2!" } });
});

test("the keyboard alone changes a value and resets it", async () => {
  const page = await w.open("/configs/keys?env=development&q=limit");
  await value(page, "limit", "Development").waitFor();
  await page.keyboard.press("/");
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const input = page.getByRole("textbox", { name: "limit in Development" });
  await input.waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "limit in Development");
  await page.keyboard.type("7");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "limit in Development: 7 set here" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.closest("[data-cell]")); // the form has returned the focus
  await page.keyboard.press("Enter");
  await input.waitFor();
  await tabTo(page, page.getByRole("button", { name: "Reset" }));
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "limit in Development: 1 default" }).waitFor();
});

test("somebody else's change appears without a reload, and leaves alone what is being typed", async () => {
  const page = await w.open("/configs/watched?edit=limit@development");
  await page.getByText("Live").waitFor();
  await page.getByRole("textbox", { name: "limit in Development" }).fill("42");
  await w.server.api(
    "PUT",
    "/api/v1/configs/watched",
    envelope("config", "watched", { items: { limit: { value: 1 } }, environments: { production: { limit: 5 } } }),
  );
  await page.getByRole("button", { name: "limit in Production: 5 set here", includeHidden: true }).waitFor({ state: "attached" });
  expect(await page.getByRole("textbox", { name: "limit in Development" }).inputValue()).toBe("42");
  await page.getByRole("button", { name: "Override" }).click();
  await page.getByRole("button", { name: "limit in Development: 42 set here" }).waitFor();
});

test("a click outside of a typed value only asks", async () => {
  const page = await w.open("/configs/texts");
  await value(page, "greeting", "Production").click();
  await page.getByRole("textbox", { name: "greeting in Production" }).fill("Hi");
  const { x, y } = (await page.getByRole("button", { name: "Settings…", includeHidden: true }).boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.click(x + 5, y + 5);
  await page.getByRole("alertdialog", { name: "Discard what you typed?" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
  await page.getByRole("button", { name: "Keep editing" }).click();
  expect(await page.getByRole("textbox", { name: "greeting in Production" }).inputValue()).toBe("Hi");
});

test("a long key has an ellipsis on a phone, and its card fits", async () => {
  const key = "k".repeat(120);
  await w.server.api("POST", "/api/v1/configs", envelope("config", "wide", { items: { [key]: { value: 1 }, second: { value: 2 } } }));
  const page = await w.open("/configs/wide", { viewport: { width: 390, height: 800 }, hasTouch: true });
  const name = page.getByRole("button", { name: key, exact: true });
  await name.waitFor();
  expect(await name.evaluate((element) => element.scrollWidth > element.clientWidth && element.clientHeight < 30)).toBe(true);
  const last = await page.getByRole("button", { name: new RegExp(`^${key} in Production`) }).boundingBox();
  const next = await page.getByRole("button", { name: "second", exact: true }).boundingBox();
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(next?.y ?? 0);
});

test("a config that others inherit from stays, and another goes with its consequences", async () => {
  const page = await w.open("/configs/shop");
  await page.getByRole("button", { name: "Delete…" }).and(page.locator("[title*='inherit']")).waitFor();
  expect(await page.getByRole("button", { name: "Delete…" }).isDisabled()).toBe(true);
  await page.goto("/configs/short");
  await page.getByRole("button", { name: "Delete…" }).click();
  const question = page.getByRole("dialog", { name: "Delete the config short" });
  await question.getByText("1 item and 0 overrides go with it.", { exact: false }).waitFor();
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted short.").waitFor();
});

test("a viewer is told why nothing can be changed, on a phone too", async () => {
  const made = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "viewer", role: "VIEWER" } },
  });
  const page = await w.open("/configs/thumb", { key: made.data.attributes.key, viewport: { width: 390, height: 800 }, hasTouch: true });
  await value(page, "limit", "Production").tap();
  await page.getByText("Requires the role Member.").last().waitFor();
  expect(await page.getByRole("button", { name: "Override" }).isDisabled()).toBe(true);
  await expectAccessible(page);
});
