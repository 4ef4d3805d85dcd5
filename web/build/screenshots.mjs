// Takes a picture of every screen, light and dark, from the demo: node build/screenshots.mjs DEMO FOLDER [NAME…]
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { levelChanges } from "./level-changes.mjs";
import { take } from "./webp.mjs";

const [program, folder, ...only] = process.argv.slice(2);

/**
 * screens are the pictures to take, each with its address. act prepares a screen before its picture is
 * taken.
 */
const screens = [
  { name: "home", title: "Home", path: "/" },
  { name: "flags", title: "Flags", path: "/flags" },
  { name: "flag", title: "A flag", path: "/flags/checkout-v2?tab=production" },
  { name: "use", title: "How often a flag is evaluated", path: "/flags/checkout-v2", act: hoverChart },
  { name: "rule", title: "The rule builder", path: "/flags/checkout-v2?tab=production", act: editRule },
  { name: "why", title: "Why somebody gets a value", path: "/flags/checkout-v2?tab=why", act: askWhy },
  { name: "levels", title: "Log levels", path: "/loggers?open=shop,shop.payments", act: (page) => center(page, "payments") },
  { name: "level", title: "A logger", path: "/loggers/shop.payments" },
  { name: "configs", title: "Configs", path: "/configs" },
  { name: "config", title: "A config", path: "/configs/checkout" },
  {
    name: "compare",
    title: "Compare two environments",
    path: "/configs/checkout?tab=compare&from=staging&to=production",
    act: (page) => page.getByLabel("Choose all that differ").check(),
  },
  { name: "jobs", title: "Jobs", path: "/jobs" },
  { name: "job", title: "A job", path: "/jobs/merchant-payouts" },
  { name: "statistics", title: "The statistics of a job", path: "/jobs/merchant-payouts?tab=stats" },
  { name: "run", title: "A run", path: failedRun },
  { name: "history", title: "History", path: "/history" },
  { name: "revert", title: "What a revert would do", path: lastChange, act: previewRevert },
  { name: "environments", title: "Environments", path: "/environments" },
  { name: "services", title: "Services", path: "/services" },
  { name: "gets", title: "Every flag that somebody gets", path: "/services/contexts/gets?of=user:hiro" },
  { name: "webhooks", title: "Webhooks", path: "/webhooks" },
  { name: "webhook", title: "The deliveries of a webhook", path: busiestWebhook },
  { name: "people", title: "People", path: "/people" },
  { name: "keys", title: "API keys", path: "/keys" },
  { name: "plan", title: "The plan", path: "/plan" },
  { name: "settings", title: "Settings", path: "/settings" },
  { name: "onboarding", title: "The first steps in an empty account", path: "/", isEmpty: true },
].filter(({ name }) => only.length === 0 || only.includes(name));

/** center scrolls a list until a link is in its middle; rows out of view are not drawn. */
async function center(page, name) {
  const link = page.getByRole("link", { name, exact: true });
  for (let step = 0; step < 50 && (await link.count()) === 0; step++)
    await page.getByRole("grid").evaluate((grid) => grid.scrollBy(0, 300));
  await link.evaluate((row) => row.scrollIntoView({ block: "center" }));
}

/** editRule opens a rule and adds a percentage, without saving it. */
async function editRule(page) {
  await page.getByRole("button", { name: "Edit accounts that pay" }).click();
  await page.getByRole("button", { name: "Add percentage" }).click();
}

/** hoverChart shows the numbers of an hour. */
async function hoverChart(page) {
  const chart = page.getByRole("figure").first();
  await chart.evaluate((figure) => figure.scrollIntoView({ block: "center" }));
  const plot = chart.locator(".u-over");
  const { width, height } = await plot.boundingBox();
  await plot.hover({ position: { x: width * 0.7, y: height / 2 } });
}

/** askWhy asks why somebody gets the flag, and shows how production decided. */
async function askWhy(page) {
  await page.getByRole("combobox", { name: "A context that services reported" }).fill("user:hiro");
  const answer = page.getByRole("region", { name: "Answer in Production" });
  await answer.getByText("How it was decided").click();
  await answer.evaluate((section) => section.scrollIntoView({ block: "end" }));
}

async function failedRun(request) {
  const [run] = await list(request, "runs?filter[job]=merchant-payouts&filter[status]=FAILED&page[size]=1");
  return `/jobs/merchant-payouts/runs/${run.id}`;
}

async function busiestWebhook(request) {
  const [webhook] = (await list(request, "webhooks")).filter(({ attributes }) => attributes.name === "Audit log");
  return `/webhooks/${webhook.id}`;
}

async function lastChange(request) {
  const [change] = await list(request, "changes?filter[resource]=flag:checkout-v2&page[size]=1");
  return `/history?kind=flag&change=${change.id}`;
}

async function previewRevert(page) {
  await page.getByRole("button", { name: "Revert…" }).click();
  const revert = page.getByRole("button", { name: "Revert", exact: true });
  await revert.evaluate((button) => button.scrollIntoView({ block: "end" }));
}

async function list(request, path) {
  const response = await request.get(`/api/v1/${path}`);
  if (!response.ok()) throw new Error(`${path}: ${response.status()} ${await response.text()}`);
  return (await response.json()).data;
}

/** startDemo returns the demo's address, what it has printed, and how to end it. */
function startDemo() {
  const demo = spawn(program, { env: { ...process.env, SIGNALBOX_LISTEN: "127.0.0.1:0" }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => demo.once("exit", resolve));
  let printed = "";
  const url = new Promise((resolve, reject) => {
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
  return { url, stop, printed: () => printed };
}

/** startEmpty starts a server without any data, and returns its address, the data of a sign-in, and how to end it. */
async function startEmpty() {
  const place = mkdtempSync(join(tmpdir(), "signalbox-screenshots-"));
  const port = await freePort();
  const env = {
    ...process.env,
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_DATA: join(place, "data"),
    SIGNALBOX_BOOTSTRAP_KEY_FILE: join(place, "key"),
  };
  const server = spawn(join(dirname(program), "signalbox"), ["serve"], { env, stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/api/readiness`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; tries < 200 && !(await isReady()); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
  const stop = async () => {
    server.kill("SIGINT");
    await ended;
    rmSync(place, { recursive: true, force: true });
  };
  return { url, data: { api_key: readFileSync(join(place, "key"), "utf8").trim() }, stop };
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const ada = { email: "ada@example.com", password: "signalbox-demo" };

/** signIn opens a session, whose cookie the context keeps. */
async function signIn(context, url, data = ada) {
  const response = await context.request.post(`${url}/api/v1/sessions`, { data });
  if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
}

async function takeAll(browser, { url, data }, screens, { theme, size, suffix }) {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: size,
    deviceScaleFactor: 2,
    reducedMotion: "reduce",
    baseURL: url,
  });
  await signIn(context, url, data);
  const page = await context.newPage();
  for (const { name, path, act } of screens) {
    await page.goto(typeof path === "string" ? path : await path(context.request));
    await page.locator("main.screen").first().waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    await act?.(page);
    await page.evaluate(() => document.fonts.ready);
    await page.waitForLoadState("networkidle"); // the answers to the requests of act have arrived; the event socket stays open
    writeFileSync(join(folder, `${name}-${suffix}.webp`), await take(page));
  }
  await context.request.delete(`${url}/api/v1/sessions/current`); // so that the next picture shows only one session
  await context.close();
}

/** contents lists all pictures in one document. */
function contents() {
  const sections = screens.map(
    ({ name, title }) => `## ${title}\n\n![${title}](${name}-light.webp)\n\n[Dark](${name}-dark.webp), [on a phone](${name}-phone.webp)\n`,
  );
  return ["# Screens\n\nThe console with the data of `make demo`, as `make screenshots` takes it.\n", ...sections].join("\n");
}

const demo = startDemo();
const empty = await startEmpty();
const browser = await chromium.launch({
  executablePath: process.env.SIGNALBOX_TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  mkdirSync(folder, { recursive: true });
  const url = await demo.url;
  const wide = { width: 1400, height: 840 };
  const forms = [
    { theme: "light", size: wide, suffix: "light" },
    { theme: "dark", size: wide, suffix: "dark" },
    { theme: "light", size: { width: 390, height: 844 }, suffix: "phone" },
  ];
  for (const form of forms) {
    await takeAll(
      browser,
      { url },
      screens.filter(({ isEmpty }) => !isEmpty),
      form,
    );
    await takeAll(
      browser,
      empty,
      screens.filter(({ isEmpty }) => isEmpty),
      form,
    );
  }
  if (only.length === 0) writeFileSync(join(folder, "README.md"), contents());
  if (only.length === 0 || only.includes("level-changes"))
    writeFileSync(join(folder, "level-changes.webp"), await levelChanges(browser, { url, signIn, printed: demo.printed }));
} finally {
  await browser.close();
  await Promise.all([demo.stop(), empty.stop()]);
}
