// The code of the book's page and of the READMEs runs, in the order of the page, against a server.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { OWNER_KEY, Server, temporaryFolder } from "./support.js";

const HERE = join(import.meta.dirname, "..");
const PAGES = [join(HERE, "../../docs/typescript.md"), join(HERE, "client/README.md"), join(HERE, "react/README.md")];

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.admin.flag("checkout-v2", "BOOLEAN", true, {});
});

afterAll(() => server.stop());

test.each(PAGES)("the code of %s runs", async (page) => {
  mkdirSync(join(HERE, "node_modules/.copies"), { recursive: true });
  const folder = mkdtempSync(join(HERE, "node_modules/.copies/"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { key } = await server.admin.key({ access: "evaluate", scopes: { environments: ["production"] } });
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```(tsx?)\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThan(0);
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, jsx: ts.JsxEmit.ReactJSX };
  const code = (language: string) => blocks.filter((each) => each[1] === language).map((each) => each[2]);
  const end = "\nawait (globalThis as any).process.emit('SIGTERM');\n";
  const programs = [...(code("ts").length > 0 ? [code("ts").join("\n") + (page.endsWith("typescript.md") ? end : "")] : []), ...code("tsx")];
  programs.forEach((program, i) => {
    const file = join(folder, `page-${i}.mjs`);
    const { outputText } = ts.transpileModule(program, { compilerOptions, fileName: "page.tsx" });
    writeFileSync(file, outputText.replace("react/jsx-runtime", "react/jsx-runtime.js") + (program.includes("<") && i > 0 ? "\nprocess.exit(0);\n" : ""));
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
