import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server that `npm run dev` passes the interface's requests on to.
const server = process.env.SIGNALBOX_URL ?? "http://127.0.0.1:8080";

/** onDemand are libraries that are loaded when a screen first uses them. */
const onDemand = ["@codemirror", "codemirror", "@lezer", "uplot", "cronstrue", "rapidoc"];
const isOnDemand = (id: string) => onDemand.some((name) => id.includes(`/node_modules/${name}/`));

/**
 * groups makes one file of what many screens share: every file costs a slow processor more than its content. What fewer
 * share, such as a field that only forms have, would make the first load of all screens heavier.
 */
const groups = [{ name: "shared", minShareCount: 8, test: (id: string) => !isOnDemand(id) }];

const budgets = "browser/budget.spec.ts";

// Every file of tests in Chromium has a server of its own; the browser and the modules are shared. Three at once suit two
// processors, because a test often waits: Playwright looks for an element again after up to half a second.
const chromium = {
  environment: "node",
  globalSetup: "browser/browser.ts",
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: 3,
};

export default defineConfig({
  plugins: [react({ jsxImportSource: "#visible" })], // src/visible shows what names hide
  build: {
    outDir: "../internal/console/dist",
    emptyOutDir: false, // build/build.mjs keeps .gitkeep
    manifest: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // which know light-dark()
    rolldownOptions: {
      input: { index: "index.html", docs: "docs.html" },
      output: { codeSplitting: { groups } },
    },
  },
  server: {
    proxy: {
      "/api": { target: server, ws: true, changeOrigin: false },
      "/auth": server,
    },
  },
  test: {
    projects: [
      // They keep no state: a process for each file would take longer to start than all of them to run.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "src/**/*.test.tsx"], environment: "node", isolate: false } },
      { extends: true, test: { ...chromium, name: "browser", include: ["browser/**/*.spec.ts"], exclude: [budgets] } },
      // What is measured runs after the others, with the machine for itself.
      { extends: true, test: { ...chromium, name: "budget", include: [budgets], sequence: { groupOrder: 1 } } },
    ],
  },
});
