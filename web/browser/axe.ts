import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** expectAccessible fails when axe finds something that shuts people out, in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.waitForFunction((scheme) => document.documentElement.dataset.mantineColorScheme === scheme, colorScheme);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const violations = await page.evaluate<Violation[], string>(async (script) => {
      if (!("axe" in window)) new Function(script)();
      const { violations } = await (window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }).axe.run();
      return violations;
    }, source);
    const found = violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}\n${nodes.map((node) => `    ${node.target.join(" ")}  ${node.failureSummary ?? ""}`).join("\n")}`,
    );
    expect(found, colorScheme).toEqual([]);
  }
}
