import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, inject, test as vitestTest } from "vitest";
import { type Profile, Profiles } from "./profiles";

const program = fileURLToPath(new URL("../../bin/signalbox", import.meta.url));
const results = fileURLToPath(new URL("../test-results/", import.meta.url));

/** Server is a running signalbox with a folder and a port of its own. */
export interface Server {
  url: string;
  key: string;
  /** api makes a request as the owner, or with another key, and returns the document. */
  api: <T = { data: { id: string; attributes: Record<string, unknown> } }>(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ) => Promise<T>;
  /** command runs the program beside the server and returns what it prints. */
  command: (...words: string[]) => string;
  stop: () => Promise<void>;
  /** leave ends the program. */
  leave: () => Promise<void>;
  /** restart starts the server again on the same folder and port. */
  restart: () => Promise<void>;
  /** freeze stops the program without closing its connections, like a network that loses every packet; thaw continues it. */
  freeze: () => void;
  thaw: () => void;
}

/** startServer starts the program that `make build` built. */
export async function startServer(settings: Record<string, string> = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-console-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const keyFile = join(folder, "key");
  const environment = {
    ...process.env,
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_DATA: join(folder, "data"),
    SIGNALBOX_BOOTSTRAP_KEY_FILE: keyFile,
    SIGNALBOX_ALLOW_NETWORKS: "127.0.0.0/8",
    ...settings,
  };
  let process_ = await run(environment, url);
  const key = readFileSync(keyFile, "utf8").trim();
  const end = () => endOf(process_);
  return {
    url,
    key,
    api: (method, path, body, as = key) => request(url, as, method, path, body),
    command: (...words) => execFileSync(program, words, { env: environment, encoding: "utf8" }),
    leave: end,
    restart: async () => {
      await end();
      process_ = await run(environment, url);
    },
    freeze: () => void process_.kill("SIGSTOP"),
    thaw: () => void process_.kill("SIGCONT"),
    stop: async () => {
      process_.kill("SIGCONT");
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function run(env: NodeJS.ProcessEnv, url: string): Promise<ChildProcess> {
  let output = "";
  const started = spawn(program, ["serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  started.stdout?.on("data", (text) => (output += text));
  started.stderr?.on("data", (text) => (output = (output + text).slice(-20_000)));
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    if (started.exitCode !== null) break;
    const ready = await fetch(`${url}/api/readiness`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return started;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  started.kill("SIGKILL");
  throw new Error(`the server did not start:\n${output}`);
}

function endOf(started: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (started.exitCode !== null || started.signalCode !== null) return resolve();
    started.on("exit", () => resolve());
    started.kill("SIGTERM");
  });
}

async function request<T>(url: string, key: string, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", Prefer: "handling=strict" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** envelope is the body of a write. */
export const envelope = (type: string, id: string, attributes: Record<string, unknown>) => ({ data: { type, id, attributes } });

/** Fixture is the server and browser that the tests of one file share. */
export interface Fixture {
  server: Server;
  /** open returns a page of a browser profile of its own that is signed in as the owner, or with another key. */
  open: (path?: string, options?: Opening) => Promise<Page>;
}

export interface Opening extends BrowserContextOptions {
  /** key signs in; "" opens a page without a session. */
  key?: string;
  /** fresh opens a page in a profile that no other test uses, for measurements and for tests that change the clock. */
  fresh?: boolean;
}

/** fixture starts a server for a file of tests, with settings of its own, in a browser that all files share; prepare fills the server. */
export function fixture(
  prepare: (server: Server) => Promise<void> = async () => {},
  settings: () => Record<string, string> = () => ({}),
): Fixture {
  const made = { server: undefined as unknown as Server };
  let browser: Browser;
  let profiles: Profiles;
  beforeAll(async () => {
    [made.server, browser] = await Promise.all([startServer(settings()), chromium.connect(inject("browser"))]);
    profiles = new Profiles(browser, made.server.url);
    await prepare(made.server);
  });
  afterAll(async () => {
    await profiles?.close();
    await browser?.close();
    await made.server?.stop();
  });
  const open = async (path = "/", { key = made.server.key, fresh = false, ...options }: Opening = {}) => {
    const test = running;
    const profile = await profiles.take(options, fresh);
    test.profiles.push(profile);
    if (key !== "") await signIn(profile.context, key);
    const page = await profile.context.newPage();
    page.setDefaultTimeout(20_000);
    watch(page, test);
    await page.goto(path);
    return page;
  };
  return {
    get server() {
      return made.server;
    },
    open,
  };
}

/** Running has the pages of the current test and their errors. */
interface Running {
  profiles: Profile[];
  pages: Set<Page>;
  complaints: string[];
}

let running: Running = { profiles: [], pages: new Set(), complaints: [] };

// watch fails a test when the page throws an error or violates its content security policy.
function watch(page: Page, { pages, complaints }: Running): void {
  pages.add(page);
  page.on("pageerror", (error) => complaints.push(`the page threw: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
}

/** signIn signs a browser profile in with a key. */
export async function signIn(context: BrowserContext, key: string): Promise<void> {
  const response = await context.request.post("/api/v1/sessions", { data: { api_key: key } });
  if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
}

/** test is Vitest's test. On failure it adds the content of every page to the message and keeps screenshots and traces. */
export function test(name: string, body: () => Promise<void>, timeout = 60_000): void {
  vitestTest(
    name,
    async () => {
      const own: Running = { profiles: [], pages: new Set(), complaints: [] };
      running = own;
      try {
        await body();
        if (own.complaints.length > 0) throw new Error(own.complaints.join("\n"));
      } catch (failure) {
        await keep(name, own.pages);
        if (failure instanceof Error) failure.message += await shown(own);
        await Promise.all(own.profiles.map(({ context }) => context.close().catch(() => {})));
        throw failure;
      }
      await Promise.all(own.profiles.map((profile) => profile.giveBack()));
    },
    timeout,
  );
}

// shown returns the content of the pages of a failed test, for logs without screenshots.
async function shown({ pages, complaints }: Running): Promise<string> {
  const texts = await Promise.all(
    [...pages].map(async (page) => {
      const text = await page
        .locator("body")
        .ariaSnapshot({ timeout: 2000 })
        .catch((problem) => `nothing: ${problem}`);
      return `${page.url()} showed:\n${text.slice(0, 4000)}`;
    }),
  );
  return ["", ...complaints, ...texts].join("\n\n");
}

async function keep(name: string, pages: Set<Page>): Promise<void> {
  mkdirSync(results, { recursive: true });
  const file = name.replace(/[^\w]+/g, "-").slice(0, 80);
  for (const [index, page] of [...pages].entries()) {
    const path = join(results, `${file}-${index + 1}`);
    await page.screenshot({ path: `${path}.png` }).catch(() => {});
    await page
      .context()
      .tracing.stop({ path: `${path}.zip` })
      .catch(() => {});
  }
}

/** tabTo presses Tab until a control has the focus, like a person without a mouse. */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  for (let presses = 0; presses < 60; presses++) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${control}`);
}

/** answer presses Enter in a dialog once the dialog has the focus. */
export async function answer(page: Page, name: string | RegExp): Promise<void> {
  const dialog = page.getByRole("dialog", { name });
  await dialog.locator(":focus").waitFor();
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
}
