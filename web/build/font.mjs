// Makes a small font of Inter: the characters of English and Western European names, and the weights that the console uses.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import subset from "subset-font";

const whole = createRequire(import.meta.url).resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, step) => String.fromCodePoint(first + step)).join("");
// Letters and digits, and the signs that the console itself shows. Others are shown in the system's font.
const characters = `${range(0x20, 0x7e)}\u00a0«»°·×${range(0xc0, 0xff)}–—‘’“”…↑↓`;

/** features are pairs of letters with a distance of their own, and digits of one width. Inter's others, such as fractions, need many more glyphs. */
const features = ["kern", "tnum"];

/** smallFont returns the font as WOFF2. */
export function smallFont() {
  return subset(readFileSync(whole), characters, {
    targetFormat: "woff2",
    keepFeatures: features,
    variationAxes: { wght: { min: 400, max: 650, default: 400 } },
  });
}
