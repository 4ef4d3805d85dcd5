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

/** expectAccessible fails when axe finds a violation in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.waitForFunction((scheme) => document.documentElement.dataset.mantineColorScheme === scheme, colorScheme);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await violations(page, colorScheme === "dark" ? colors : undefined), colorScheme).toEqual([]);
  }
}

/** colors are the rules that depend on the theme; the others give the same result in both. */
const colors = ["color-contrast", "link-in-text-block"];

/** violations returns the violations that axe finds on a page, by the given rules or by all. */
export async function violations(page: Page, runOnly?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate((script) => new Function(script)(), source);
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
    const only = { resultTypes: ["violations"], iframes: false }; // only violations are described
    return (await axe.run(runOnly ? { ...only, runOnly } : only)).violations;
  }, runOnly);
  return found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map((node) => `    ${node.target.join(" ")}  ${node.failureSummary ?? ""}`).join("\n")}`,
  );
}
