// Takes a picture of every screen, light and dark, from the demo: node build/screenshots.mjs DEMO FOLDER [NAME…]
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, folder, ...only] = process.argv.slice(2);

/** screens are addresses and what shows that they are complete; act makes the picture say more. */
const screens = [
  { name: "home", path: "/" },
  { name: "flags", path: "/flags" },
  { name: "flag", path: "/flags/checkout-v2?tab=production" },
  { name: "levels", path: "/loggers?open=shop,shop.payments", act: (page) => center(page, "payments") },
  { name: "level", path: "/loggers/shop.payments" },
  { name: "configs", path: "/configs" },
  { name: "config", path: "/configs/checkout" },
  { name: "jobs", path: "/jobs" },
  { name: "job", path: "/jobs/merchant-payouts" },
  { name: "history", path: "/history" },
  { name: "environments", path: "/environments" },
  { name: "services", path: "/services" },
  { name: "people", path: "/people" },
  { name: "keys", path: "/keys" },
  { name: "plan", path: "/plan" },
  { name: "settings", path: "/settings" },
].filter(({ name }) => only.length === 0 || only.includes(name));

/** center scrolls a list until a link is in its middle; rows out of view are not drawn. */
async function center(page, name) {
  const link = page.getByRole("link", { name, exact: true });
  for (let step = 0; step < 50 && (await link.count()) === 0; step++)
    await page.getByRole("grid").evaluate((grid) => grid.scrollBy(0, 300));
  await link.evaluate((row) => row.scrollIntoView({ block: "center" }));
}

/** startDemo returns the demo's address, and how to end it. */
function startDemo() {
  const demo = spawn(program, { env: { ...process.env, SIGNALBOX_LISTEN: "127.0.0.1:0" }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => demo.once("exit", resolve));
  const url = new Promise((resolve, reject) => {
    let printed = "";
    demo.stdout.on("data", (text) => {
      printed += text;
      const found = /The console +(\S+)/.exec(printed);
      if (found) resolve(found[1]);
    });
    ended.then(() => reject(new Error(`the demo ended:\n${printed}`)));
  });
  const stop = async () => {
    demo.kill("SIGINT");
    await ended;
  };
  return { url, stop };
}

/** signIn opens a session, whose cookie the context keeps. */
async function signIn(context, url) {
  const data = { email: "ada@example.com", password: "signalbox-demo" };
  const response = await context.request.post(`${url}/api/v1/sessions`, { data });
  if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
}

async function takeAll(browser, url, theme, size, suffix) {
  const context = await browser.newContext({ colorScheme: theme, viewport: size, reducedMotion: "reduce", baseURL: url });
  await signIn(context, url);
  const page = await context.newPage();
  for (const { name, path, act } of screens) {
    await page.goto(path);
    await page.locator("main.screen").first().waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    await act?.(page);
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
  }
  await context.request.delete(`${url}/api/v1/sessions/current`); // the next finds one session, its own
  await context.close();
}

const demo = startDemo();
const browser = await chromium.launch({
  executablePath: process.env.SIGNALBOX_TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  mkdirSync(folder, { recursive: true });
  const url = await demo.url;
  for (const theme of ["light", "dark"]) await takeAll(browser, url, theme, { width: 1440, height: 900 }, theme);
  await takeAll(browser, url, "light", { width: 390, height: 844 }, "phone");
} finally {
  await browser.close();
  await demo.stop();
}
