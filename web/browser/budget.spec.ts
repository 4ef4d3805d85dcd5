import { get } from "node:http";
import type { CDPSession, Page } from "playwright-core";
import { expect } from "vitest";
import { envelope, fixture, test } from "./harness";

const count = 10_000;
const ids = Array.from({ length: count }, (_, index) => String(index).padStart(5, "0"));
const where = { service: "shop", environment: "production" };

const w = fixture(async ({ api }) => {
  const flags = ids.map((id) => ({ id: `flag-${id}`, type: "BOOLEAN", default: false, ...where }));
  const loggers = ids.map((id) => ({ id: `shop.part-${id.slice(0, 3)}.logger-${id}`, level: "INFO", resolved_level: "INFO", ...where }));
  await Promise.all([api("POST", "/api/v1/flags/bulk", { flags }), api("POST", "/api/v1/loggers/bulk", { loggers })]);
  const nightly = { name: "Nightly", schedule: "0 3 * * *", configuration: { url: "http://127.0.0.1:1/" } };
  await api("POST", "/api/v1/jobs", envelope("job", "nightly", nightly)); // an empty list has no grid
});

/** within repeats a measurement up to `tries` times until all figures are within their budgets: other programs may use the processor. */
async function within<T extends Record<string, number>>(budgets: T, measure: (attempt: number) => Promise<T>, tries = 9): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const found = await measure(attempt);
    const missed = Object.keys(budgets).filter((name) => (found[name] as number) >= (budgets[name] as number));
    if (missed.length === 0) return;
    if (attempt === tries) expect.fail(`${missed.join(" and ")} over budget: ${JSON.stringify(found)}, not ${JSON.stringify(budgets)}`);
  }
}

/** stride is how many screens blanks scrolls at once after the first and before the last thirty. */
const stride = process.env.SIGNALBOX_SOAK ? 1 : 6;

/**
 * blanks scrolls a grid from the top to the bottom, a step with every frame, and returns where there was no row, or
 * one without content, for longer than an eye needs to see it. A step is a screen at both ends; between them it is several
 * screens, which no row is prepared for.
 */
const blanks = (page: Page, label: string) =>
  page.evaluate(
    async ({ label, stride }) => {
      const grid = document.querySelector(`[role=grid][aria-label="${label}"]`) as HTMLElement;
      const { left, top, bottom } = grid.getBoundingClientRect();
      const step = grid.clientHeight;
      const empty = (y: number) => {
        const row = document.elementFromPoint(left + 60, y)?.closest<HTMLElement>("[role=row]");
        return !row || row.dataset.loading !== undefined || row.textContent === "";
      };
      const isBlank = () => [top + 60, (top + bottom) / 2, bottom - 30].some(empty);
      const frame = () => new Promise(requestAnimationFrame);
      const found: number[] = [];
      const last = grid.scrollHeight - step;
      for (let at = 0; at < last; at += at < 30 * step || at > last - 30 * step ? step : stride * step) {
        grid.scrollTop = at;
        await frame();
        const seen = performance.now() + 100;
        while (isBlank() && performance.now() < seen) await frame();
        if (isBlank()) found.push(at);
      }
      grid.scrollTop = 0;
      return found;
    },
    { label, stride },
  );

/** heap returns how many megabytes the page's objects have. */
async function heap(page: Page): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1e6;
}

/** answered types into the search and returns the milliseconds from the last key until the grid has `rows` rows. */
async function answered(page: Page, text: string, rows: number): Promise<number> {
  await page.locator("input[data-search]").fill("");
  await page.waitForFunction((all) => document.querySelector("[role=grid]")?.getAttribute("aria-rowcount") === String(all + 1), count);
  await page.evaluate((rows) => {
    let last = 0;
    const onInput = () => {
      last = performance.now();
    };
    document.addEventListener("input", onInput, true);
    const answer = new Promise<number>((resolve) => {
      const look = () => {
        if (document.querySelector("[role=grid]")?.getAttribute("aria-rowcount") !== String(rows + 1)) return requestAnimationFrame(look);
        document.removeEventListener("input", onInput, true);
        resolve(performance.now() - last);
      };
      look();
    });
    Object.assign(window, { answer });
  }, rows);
  await page.keyboard.type(text);
  return page.evaluate(() => (window as unknown as { answer: Promise<number> }).answer);
}

for (const { label, path } of [
  { label: "Flags", path: "/flags" },
  { label: "Loggers", path: "/loggers?view=list" },
]) {
  test(`${count} rows of ${label} scroll without a gap, and are filtered at once`, async () => {
    const page = await w.open(path);
    await page.waitForFunction((all) => document.querySelector("[role=grid]")?.getAttribute("aria-rowcount") === String(all + 1), count);
    await within({ blanks: 1 }, async () => ({ blanks: (await blanks(page, label)).length }));
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    await within({ milliseconds: 200 }, async (attempt) => {
      const slow = await slowness(page, cdp, 1);
      return { milliseconds: (await answered(page, `-0${attempt}42`, 10)) / slow };
    });
    expect(await heap(page)).toBeLessThan(150);
  }, 120_000);
}

/** Loaded are the milliseconds from the request for a page until something is painted, and until its list answers a key. */
interface Loaded extends Record<string, number> {
  painted: number;
  ready: number;
  /** busy is the processor time of the page's own thread until ready; other programs do not affect it. */
  busy: number;
}

/** busyFor returns how long the page's thread has computed. */
async function busyFor(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "ThreadTime")?.value ?? Number.POSITIVE_INFINITY);
}

// observe makes the page itself wait for its first row, press a key and wait for the focus to move: asking from
// outside would take part of the measured time.
const observe = () => {
  const cell = (at: string) => document.querySelector<HTMLElement>(`[data-cell="${at}"]`);
  const frame = () => new Promise(requestAnimationFrame);
  const loaded = async () => {
    while (!cell("0:0")?.textContent) await frame();
    cell("0:0")?.focus();
    cell("0:0")?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    while (document.activeElement !== cell("1:0")) await frame();
    await frame();
    return { painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime, ready: performance.now() };
  };
  Object.assign(window, { loaded: loaded() });
};

// compute is work that is always the same.
const compute = () => {
  let sum = 0;
  for (let round = 0; round < 30; round++) {
    const numbers = new Map<string, number>();
    for (let index = 0; index < 2000; index++) numbers.set(`${(index * 7919) % 2000}`, index);
    for (const [name, index] of numbers) sum = (sum * 31 + index + name.length) | 0;
  }
  return sum;
};

/** usual is the processor time of compute in milliseconds, on a processor that has nothing else to do. */
const usual = 17.5;

/**
 * slowness returns how many times slower the machine computes than usual, from 1 to 2: other programs also slow processor time
 * down. rate is how many times slower Chromium makes the processor.
 */
async function slowness(page: Page, cdp: CDPSession, rate: number): Promise<number> {
  const before = await busyFor(cdp);
  await page.evaluate(compute);
  return Math.min(2, Math.max(1, ((await busyFor(cdp)) - before) / (usual * rate)));
}

/** load opens a screen in a new profile, on a processor that is four times slower. If the machine is slow before and afterward, the figures are reduced as much. */
async function load(path: string): Promise<Loaded> {
  const page = await w.open("about:blank", { fresh: true });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const before = await slowness(page, cdp, 4);
  await page.addInitScript(observe);
  await page.goto(path, { waitUntil: "commit" });
  const loaded = await page.evaluate(() => (window as unknown as { loaded: Promise<Loaded> }).loaded);
  const busy = await busyFor(cdp);
  const slow = Math.min(before, await slowness(page, cdp, 4));
  await page.context().close();
  return { painted: loaded.painted / slow, ready: loaded.ready / slow, busy: busy / slow };
}

// On an idle machine the console is ready within 1.5 s; here other programs use the processor too, so the test measures processor time.
test("the console is painted within a second on a slow processor, and answers a key after 1.5 s of its time", async () => {
  await within({ painted: 1000, ready: 3000, busy: 1500 }, () => load("/flags"), 20);
}, 180_000);

const limit = 250 * 1024;

test("the first screens load at most 250 KB gzip, with the font", async () => {
  for (const path of ["/flags", "/loggers", "/jobs", "/configs", "/history"]) {
    const page = await w.open("about:blank", { fresh: true });
    const files = new Set<string>();
    page.on("request", (request) => new URL(request.url()).pathname.startsWith("/assets/") && files.add(request.url()));
    await page.goto(path);
    await page.locator('[data-cell="0:0"]').waitFor();
    const sizes = await Promise.all([page.url(), ...files].map(bytesOf));
    expect([...files].some((url) => url.endsWith(".woff2"))).toBe(true);
    expect(
      sizes.reduce((sum, size) => sum + size, 0),
      path,
    ).toBeLessThan(limit);
    await page.context().close();
  }
});

/** bytesOf returns how many bytes the server sends for a file to a browser that knows gzip. */
const bytesOf = (url: string) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers: { "Accept-Encoding": "gzip" } }, (response) => {
      let bytes = 0;
      response.on("data", (part: Buffer) => (bytes += part.length));
      response.on("end", () => resolve(bytes));
      response.on("error", reject);
    }).on("error", reject);
  });

/** busyPerFrame scrolls the flags by some pixels with every frame, and returns the milliseconds that the page computes for a frame. */
async function busyPerFrame(page: Page, by: { top?: number; left?: number }): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await busyFor(cdp);
  const frames = await page.evaluate(async (by) => {
    const grid = document.querySelector("[role=grid]") as HTMLElement;
    grid.scrollTo(0, 0);
    for (let frame = 0; frame < 60; frame++) {
      grid.scrollBy(by);
      await new Promise(requestAnimationFrame);
    }
    return 60;
  }, by);
  return ((await busyFor(cdp)) - before) / frames;
}

test("40 environments cost little more than one when 10,000 flags are scrolled, and the names stay in place", async () => {
  const names = Array.from({ length: 38 }, (_, index) => `region-${String(index).padStart(2, "0")}`);
  for (const id of names) {
    await w.server.api("POST", "/api/v1/environments", { data: { type: "environment", id, attributes: { name: id, managed: true } } });
  }
  await Promise.all(
    ids.slice(0, 100).map((id) =>
      w.server.api("PUT", `/api/v1/flags/flag-${id}`, {
        data: {
          type: "flag",
          id: `flag-${id}`,
          attributes: { type: "BOOLEAN", default: false, managed: true, environments: { production: { enabled: true } } },
        },
      }),
    ),
  );
  const page = await w.open("/flags");
  await page.getByRole("columnheader", { name: "region-00" }).waitFor();
  const name = page.locator('[data-cell="0:0"]');
  const left = (await name.boundingBox())?.x;
  const few = await w.open("/flags?env=production");
  await few.locator('[data-cell="0:0"]').waitFor();
  // 30 frames a second on a quiet machine; here other programs use the processor too, so the test compares.
  await within({ times: 3 }, async () => ({ times: (await busyPerFrame(page, { top: 120 })) / (await busyPerFrame(few, { top: 120 })) }));
  await busyPerFrame(page, { left: 100 });
  await page.getByRole("columnheader", { name: "region-30" }).waitFor();
  expect((await name.boundingBox())?.x).toBe(left);
  await name.focus();
  for (let column = 0; column < 3; column++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.activeElement?.getAttribute("data-cell") === "0:3");
}, 120_000);
