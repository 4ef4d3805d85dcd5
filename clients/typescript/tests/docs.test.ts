// The code of the book's page and of the READMEs runs, in the order of the page, against a server.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
// @ts-expect-error: a script without types
import { PAGES, programsOf } from "./docs-code.mjs";
import { OWNER_KEY, Server, temporaryFolder } from "./support.js";

const HERE = join(import.meta.dirname, "..");

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.admin.flag("checkout-v2", "BOOLEAN", true, {});
});

afterAll(() => server.stop());

test.each(PAGES as string[])("the code of %s runs", async (page) => {
  mkdirSync(join(HERE, "node_modules/.copies"), { recursive: true });
  const folder = mkdtempSync(join(HERE, "node_modules/.copies/"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { key } = await server.admin.key({ access: "evaluate", scopes: { environments: ["production"] } });
  // The code for Node.js ends by itself, or as the page says.
  const { node, react } = programsOf(page);
  const endings = node.map((code: string) => `${code}\n${code.includes("SIGTERM") ? 'process.emit("SIGTERM");' : ""}\n`);
  const programs = [...endings, ...react.map((code: string) => `${code}\nprocess.exit(0);\n`)];
  expect(programs.length).toBeGreaterThan(0);
  programs.forEach((program, i) => {
    const file = join(folder, `page-${i}.mjs`);
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, jsx: ts.JsxEmit.ReactJSX };
    writeFileSync(file, ts.transpileModule(program, { compilerOptions, fileName: "page.tsx" }).outputText);
    const env = {
      ...process.env,
      SIGNALBOX_URL: server.url,
      SIGNALBOX_API_KEY: OWNER_KEY,
      SIGNALBOX_ENVIRONMENT: "production",
      SIGNALBOX_SERVICE: "docs",
      SIGNALBOX_BROWSER_KEY: key,
      XDG_CACHE_HOME: temporaryFolder(),
    };
    execFileSync(process.execPath, [file], { env, stdio: "pipe", timeout: 60_000 });
  });
});
