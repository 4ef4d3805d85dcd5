// Makes a small font of Inter: the characters of English and Western European names, and the weights that the console uses.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import subset from "subset-font";

const whole = createRequire(import.meta.url).resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, step) => String.fromCodePoint(first + step)).join("");
const characters = `${range(0x20, 0x7e)}${range(0xa0, 0xff)}–—‘’“”…↑↓`;

/** smallFont returns the font as WOFF2. */
export function smallFont() {
  return subset(readFileSync(whole), characters, {
    targetFormat: "woff2",
    variationAxes: { wght: { min: 400, max: 650, default: 400 } },
  });
}
