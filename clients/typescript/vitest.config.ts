import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The files that take longest. */
const LONG = /\/(push|scenarios|services|restarts)/;

/** Begins with the long files, so that nothing waits for one that was begun last. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...files.filter(isLong), ...files.filter((each) => !isLong(each))];
  }
}

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
    maxWorkers: 4, // the tests mostly wait
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
