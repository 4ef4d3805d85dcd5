import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { envelope, fixture, test } from "./harness";

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const evaluated = (flag: string, value: string, count: number, minutes: number) => ({
  type: "metric",
  attributes: {
    name: "flags.evaluations",
    unit: "evaluations",
    value: count,
    recorded_at: ago(minutes),
    dimensions: { flag, value, environment: "production" },
  },
});

const rules = [
  { description: "people who pay", logic: { "==": [{ var: "user.plan" }, "pro"] }, value: true },
  { description: "", logic: { "==": [{ var: "user.key" }, "bob"] }, value: true },
];

const w = fixture(async ({ api }) => {
  const production = { enabled: true, default: null, rules };
  await api("POST", "/api/v1/flags", envelope("flag", "used", { type: "BOOLEAN", default: false, environments: { production } }));
  await api(
    "POST",
    "/api/v1/flags",
    envelope("flag", "off", { type: "BOOLEAN", default: false, environments: { production: { enabled: false } } }),
  );
  await api("POST", "/api/v1/contexts/bulk", { contexts: [{ type: "user", key: "alice", attributes: { plan: "pro" } }] });
  const data = [evaluated("used", "true", 40, 30), evaluated("used", "false", 2, 20), evaluated("used", "false", 1000, 3 * 24 * 60)];
  await api("POST", "/api/v1/metrics/bulk", { data });
  const job = { name: "Nightly", schedule: "0 3 * * *", configuration: { url: "http://127.0.0.1:1/", method: "GET" } };
  await api("POST", "/api/v1/jobs", envelope("job", "nightly", job));
  await api("POST", "/api/v1/jobs/nightly/actions/run");
  await api("POST", "/api/v1/configs", envelope("config", "app", { items: { timeout_ms: { value: 1500 } } }));
});

/** drawn waits for a chart and returns how many milliseconds drawing it took at most. */
const drawn = "Math.max(...performance.getEntriesByName('chart').map(({ duration }) => duration))";

/** hoverOver moves the pointer over a chart until a number is among those of the step under the pointer, and returns its position. */
async function hoverOver(chart: Locator, number: RegExp): Promise<{ x: number; y: number }> {
  const plot = chart.locator(".u-over");
  const found = chart.locator("b").filter({ hasText: number });
  const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
  const position = { x: width - 1, y: height / 2 };
  for (; position.x > 0 && (await found.count()) === 0; position.x -= 4) await plot.hover({ position });
  await found.first().waitFor();
  return { ...position, x: position.x + 4 };
}

test("the list of flags says outcomes, with the trend of a day in one request", async () => {
  const page = await w.open("/keys?env=production");
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/metrics?") && asked.push(request.url()));
  await page.getByRole("link", { name: "Flags" }).click();
  await page.getByText("true for 2 rules").waitFor();
  await page.getByText("off: false").waitFor();
  await page.getByRole("img", { name: "42 evaluations in 24 h" }).waitFor();
  expect(asked).toHaveLength(1);
});

test("a context shows every flag it gets, and why", async () => {
  const page = await w.open("/services/contexts?id=user:alice");
  await page.getByRole("link", { name: "What does it get?" }).click();
  const row = page.getByRole("row", { name: /used/ });
  await row.getByText("rule 1").waitFor();
  await page.getByRole("combobox", { name: "Only" }).selectOption("targeted");
  await page.getByRole("row", { name: /^off/ }).waitFor({ state: "detached" });
  await expectAccessible(page);
});

test("the first steps tick themselves", async () => {
  const page = await w.open("/");
  const steps = page.getByRole("region", { name: "First steps" });
  await steps.getByRole("listitem", { name: "Serve the first flag: done" }).waitFor();
  await steps.getByRole("button", { name: "Create a key" }).click();
  await steps.getByRole("listitem", { name: "Create a key: done" }).waitFor();
  await steps.getByText(/Bearer sk_api_[\w-]/).waitFor();
  await steps.getByRole("tab", { name: "Python" }).click();
  await steps.getByText(w.server.url).waitFor();
  await w.server.api("POST", "/api/v1/loggers/bulk", {
    loggers: [{ id: "shop", level: "INFO", resolved_level: "INFO", service: "shop", environment: "production" }],
  });
  await expectAccessible(page);
  await w.server.api("PUT", "/api/v1/loggers/shop", envelope("logger", "shop", { managed: true, level: "DEBUG" }));
  await steps.waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Use" }).getByText("Connected services").waitFor();
  await expectAccessible(page);
});

test("the palette makes and does things", async () => {
  const page = await w.open("/");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.keyboard.press("Control+k");
  const search = page.getByRole("combobox", { name: "Search everything" });
  await search.fill("alice");
  await page.getByRole("option", { name: /What does user:alice get/ }).waitFor();
  await search.fill("new fl");
  await page.getByRole("option", { name: "New flag" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByLabel("Id").waitFor();
  await w.server.api("PUT", "/api/v1/loggers/shop", envelope("logger", "shop", { managed: true, level: "DEBUG" }));
  await page.goto("/");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.keyboard.press("Control+k");
  for (const [text, hit] of [
    ["set level of shop", "Set level of shop…"],
    ["set level", "Set level of shop…"],
    ["run nightly", "Run job nightly now"],
    ["run job", "Run job nightly now"],
    ["go to flags", "Flags"],
    ["staging", /^staging/],
    ["owner", /^Owner key/],
    ["timeout", "timeout_ms"],
  ] as const) {
    await search.fill(text);
    await page.getByRole("option", { name: hit }).first().waitFor();
  }
  await search.fill("dark");
  await page.getByRole("option", { name: "Dark theme" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(":root[data-mantine-color-scheme=dark]").waitFor();
  await page.keyboard.press("Control+k");
  await search.fill("sign out");
  await page.getByRole("option", { name: "Sign out" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/sign-in/);
});

// This test is the last, because the server records an evaluation up to 10 s later.
test("a flag shows what it serves everywhere, and how often", async () => {
  const page = await w.open("/flags/used");
  const served = page.getByRole("article", { name: "Served in Production" });
  await served.getByText("true for 2 rules").waitFor();
  await served.getByText("people who pay").waitFor();
  const panel = page.getByRole("region", { name: "Evaluations" });
  await panel.getByText("42 in 24 h").waitFor();
  const chart = panel.getByRole("figure", { name: "Evaluations by value, 24 h" });
  await chart.locator("canvas").waitFor();
  await hoverOver(chart, /^40$/);
  await page.mouse.move(0, 0);
  await chart.getByRole("button", { name: "true" }).click();
  expect(await chart.getByRole("button", { name: "true" }).getAttribute("aria-pressed")).toBe("false");
  await chart.getByText("1 change").waitFor();
  await chart.getByText("As a table").click();
  await chart.getByRole("table").getByText("40").waitFor();
  await chart.getByText(/Created/).waitFor();
  await panel.getByText("7 d").click();
  await panel.getByText("1 k in 7 d").waitFor();
  await panel.getByText("90 d").click();
  await panel.getByText("1 k in 90 d").waitFor();
  expect(await page.evaluate(drawn)).toBeLessThan(100);
  await expectAccessible(page);
});
