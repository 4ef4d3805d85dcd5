import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@signalbox\/client$/, replacement: source("client/src/index.ts") },
      { find: /^@signalbox\/client\/(.+)$/, replacement: source("client/src/$1.ts") },
      { find: /^@signalbox\/react$/, replacement: source("react/src/index.ts") },
    ],
  },
  test: {
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    pool: "threads",
    maxWorkers: 3, // the tests mostly wait
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
