// Takes the programs out of the documents. Run by itself, it writes them to tests/generated, where the check finds their types.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const CLIENT = join(import.meta.dirname, "..");

export const PAGES = ["../../docs/typescript.md", "client/README.md", "react/README.md"];

/** Returns the programs of a page: its code for Node.js as one, and each of its components of React. */
export function programsOf(page) {
  const blocks = [...readFileSync(join(CLIENT, page), "utf8").matchAll(/^```(tsx?)\n(.*?)^```$/gms)];
  const code = (language) => blocks.filter((each) => each[1] === language).map((each) => each[2]);
  const whole = code("ts").join("\n");
  return { node: whole ? [whole] : [], react: code("tsx") };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(import.meta.dirname, "generated");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [i, page] of PAGES.entries()) {
    const { node, react } = programsOf(page);
    for (const [j, program] of [...node, ...react].entries()) {
      writeFileSync(join(folder, `${i}-${j}-${basename(page, ".md")}.tsx`), program);
    }
  }
}
