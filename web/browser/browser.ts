import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** browser is the address of the one Chromium of all tests. */
    browser: string;
  }
}

/**
 * quick makes pages draw as often as they can, and share compiled code within a profile. The effects of React run after a
 * page is drawn: at the usual rate, which would save a twelfth of the processor time, a test sometimes presses a key before
 * the page listens. Measurements run without these options.
 */
const quick = ["--disable-frame-rate-limit", "--disable-gpu-vsync", "--process-per-site"];

/** elsewhere maps another host name to this machine. Unlike localhost, browsers do not treat it as secure. */
const elsewhere = "--host-resolver-rules=MAP signalbox.test 127.0.0.1";

/**
 * setup starts the system's Chromium once for all files of tests. If there is one without windows, it takes that one: the
 * whole browser starts three processes for a page instead of one, and needs half as much processor time again.
 */
export default async function setup(project: TestProject) {
  const known = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  const executablePath = process.env.SIGNALBOX_TEST_CHROMIUM ?? which(...known);
  const args = ["--no-sandbox", "--disable-dev-shm-usage", elsewhere, ...(project.name === "budget" ? [] : quick)];
  const server = await chromium.launchServer({ executablePath, args });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}

function which(...names: string[]): string {
  for (const name of names) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {}
  }
  throw new Error("there is no Chromium; scripts/ensure-chromium installs it");
}
