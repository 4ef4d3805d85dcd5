import { expect } from "vitest";
import { expectAccessible, violations } from "./axe";
import { envelope, fixture, test } from "./harness";

const w = fixture(async ({ api }) => {
  await api("POST", "/api/v1/contexts/bulk", {
    contexts: [
      { type: "service", key: "checkout" },
      { type: "service", key: "catalog" },
      { type: "user", key: "alice", attributes: { country: "DE" } },
    ],
  });
  const logic = { "==": [{ var: "user.key" }, "alice"] };
  const rules = [{ description: "Alice", logic, value: true }];
  const environments = { production: { enabled: true, default: false, rules } };
  await api("POST", "/api/v1/flags", envelope("flag", "beta", { name: "Beta", type: "BOOLEAN", default: false, environments }));
  const job = { name: "Nightly", schedule: "0 3 * * *", enabled: true, configuration: { url: "http://127.0.0.1:1/", method: "GET" } };
  await api("POST", "/api/v1/jobs", envelope("job", "nightly", job));
  await api("POST", "/api/v1/jobs/nightly/actions/run");
  await api("PUT", "/api/v1/loggers/shop", {
    data: { attributes: { managed: true, environments: { production: { level: "DEBUG", ttl_seconds: 900 } } } },
  });
  const report = { service: "checkout", environment: "production", level: "INFO", resolved_level: "INFO" };
  await api("POST", "/api/v1/loggers/bulk", { loggers: ["shop", "http"].map((id) => ({ id, ...report })) });
  const declared = { id: "beta", type: "BOOLEAN", default: false, service: "checkout", environment: "production" };
  await api("POST", "/api/v1/flags/bulk", { flags: [declared] });
});

test("a service that is connected is shown so, with its client", async () => {
  const page = await w.open("/services");
  await page.evaluate(() => {
    Object.assign(window, { socket: new WebSocket("/api/ws/v1/events?service=checkout&environment=production") });
  });
  const row = page.getByRole("row", { name: /checkout/ });
  await row.getByText("1 connected").waitFor();
  await page
    .getByRole("row", { name: /catalog/ })
    .getByText("not connected")
    .waitFor();
  await page.getByRole("gridcell").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: "checkout" });
  await panel.getByText("up to date").waitFor();
  await panel.getByText("1 of 2 not applied").waitFor();
  await panel
    .getByRole("row", { name: /^shop production/ })
    .getByText("should be DEBUG")
    .waitFor();
  await panel.getByRole("row", { name: /^beta production false/ }).waitFor();
  await expectAccessible(page);
});

test("a context has the flags that name it", async () => {
  const page = await w.open("/services/contexts");
  await page.getByRole("button", { name: "user alice" }).click();
  const panel = page.getByRole("dialog", { name: "user:alice" });
  await panel.getByRole("link", { name: "beta" }).waitFor();
  await panel.getByText('"country": "DE"').waitFor();
});

test("home shows what needs attention, and the recent changes", async () => {
  const page = await w.open("about:blank");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(decodeURIComponent(request.url())));
  await page.goto("/");
  const matters = page.getByRole("region", { name: "Needs attention" });
  await matters.getByText(/no connection/).waitFor();
  await matters.getByText("DEBUG in production ends").waitFor();
  await page.getByRole("region", { name: "Recent changes" }).getByRole("link", { name: "flag beta" }).waitFor();
  await expectAccessible(page);
  expect(asked.some((url) => url.includes("/flags?") && url.includes("filter[stale]=true"))).toBe(true);
  expect(asked.filter((url) => url.includes("/flags?") && !url.includes("filter[stale]=true"))).toEqual([]);
  expect(await page.getByRole("region", { name: "Recent changes" }).getByText("session").count()).toBe(0);
  await page.getByLabel("Environment in focus").selectOption("staging");
  await matters.getByText("DEBUG in production ends").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "flag beta" }).click();
  await page.getByRole("dialog").getByText("created the flag").waitFor();
});

test("every screen is accessible on a phone, and those without a test of their own on a desk", async () => {
  const phone = await w.open("/", { viewport: { width: 390, height: 800 }, hasTouch: true });
  const { data } = await w.server.api<{ data: { id: string }[] }>("GET", "/api/v1/runs?filter[job]=nightly");
  const paths = [
    "/",
    "/flags",
    "/flags/beta",
    "/flags/beta?tab=production",
    "/flags/beta?tab=why",
    "/loggers",
    "/loggers/shop",
    "/configs",
  ];
  paths.push("/jobs/nightly", `/jobs/nightly/runs/${data[0]?.id}`, "/history", "/environments", "/services", "/services/contexts");
  for (const path of [...paths, "/people", "/keys", "/plan", "/webhooks"]) {
    await phone.goto(path);
    await phone.locator("main.screen").waitFor();
    await phone.locator(".skeleton").first().waitFor({ state: "detached" });
    expect(await violations(phone), path).toEqual([]);
    expect(await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${path} scrolls sideways`).toBeLessThanOrEqual(
      0,
    );
  }
  const desk = await w.open("/history");
  for (const path of ["/history", "/services/contexts", "/people", "/keys", "/docs"]) {
    await desk.goto(path);
    await desk.locator("main").waitFor();
    await desk.locator(".skeleton").first().waitFor({ state: "detached" });
    expect(await violations(desk), path).toEqual([]);
  }
}, 120_000);

test("the plan says how much of each limit is used", async () => {
  const page = await w.open("/plan");
  const limits = page.getByRole("list", { name: "Limits" });
  await limits.getByRole("listitem").filter({ hasText: "Enabled jobs" }).getByText("1, without a limit").waitFor();
  await expectAccessible(page);
  expect(await limits.getByRole("listitem").count()).toBeGreaterThan(5);
});
