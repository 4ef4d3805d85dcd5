// Builds the console into the folder that the server embeds. The first pass finds the used components of Mantine, so
// that the second pass leaves out the styles of the others.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { finish } from "./finish.mjs";
import { smallFont } from "./font.mjs";
import { lighten, usedClasses } from "./styles.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = at("../../internal/console/dist/");
const lean = at("../node_modules/.cache/mantine.css");
const font = at("../node_modules/.cache/inter.woff2");

const [first] = [await build({ root: at(".."), logLevel: "error", build: { write: false, minify: false } })].flat();
const scripts = first.output.filter((file) => file.type === "chunk").map((chunk) => chunk.code);
mkdirSync(at("../node_modules/.cache"), { recursive: true });
writeFileSync(
  lean,
  lighten(readFileSync(at("../node_modules/@mantine/core/styles.css"), "utf8").replace(/\/\*[\s\S]*?\*\//g, ""), usedClasses(scripts)),
);
writeFileSync(font, await smallFont());

for (const name of readdirSync(dist)) if (name !== ".gitkeep") rmSync(dist + name, { recursive: true });
await build({
  root: at(".."),
  logLevel: "error",
  resolve: { alias: { "@mantine/core/styles.css": lean, "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2": font } },
  build: { chunkSizeWarningLimit: 1000 },
});
finish();
