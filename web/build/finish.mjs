// Finishes what Vite built: checks how much a browser loads first, has it compiled early, lists the licenses
// of the bundled packages, and compresses every file, so that the server has nothing left to do.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const dist = resolve(web, "../internal/console/dist");
const limit = 250 * 1024;

let manifest;

// closure returns the files that the browser loads for an entry: the entry, its imports and their styles.
function closure(key, found = new Set()) {
  const chunk = manifest[key];
  if (!chunk || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const style of chunk.css ?? []) found.add(style);
  for (const imported of chunk.imports ?? []) closure(imported, found);
  return found;
}

const compressed = (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
const weight = (files) => [...files].reduce((sum, file) => sum + compressed(file), 0);

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;

/** fontOf returns the name of the font's file, which index.html asks for before the scripts. */
const fontOf = () => readdirSync(join(dist, "assets")).find((name) => name.endsWith(".woff2"));

// checkWeight measures the files that a browser loads for the heaviest screen, the start of the page and the font included.
function checkWeight() {
  const font = statSync(join(dist, "assets", fontOf())).size;
  const frame = closure("src/app/Frame.tsx", closure("index.html"));
  const screens = manifest["index.html"].dynamicImports.map((name) => ({ name, bytes: font + weight(closure(name, new Set(frame))) }));
  const heaviest = screens.sort((a, b) => b.bytes - a.bytes)[0];
  console.log(
    `console: the first load is ${kilobytes(font + weight(frame))} gzip with the font, which has ${kilobytes(font)}; ` +
      `${kilobytes(heaviest.bytes)} with the heaviest screen (${heaviest.name})`,
  );
  if (heaviest.bytes <= limit) return;
  console.error(`console: the first load must stay below ${kilobytes(limit)}; load more on demand`);
  process.exit(1);
}

// compileEarly asks the browser to compile all functions of the scripts that the page begins with while they arrive, beside
// the main thread. Without the comment each is compiled when it is first called, by the thread that renders: a quarter of the
// processor's time until the first list is ready.
function compileEarly() {
  for (const file of closure("index.html")) {
    const path = join(dist, file);
    if (file.endsWith(".js")) writeFileSync(path, `//# allFunctionsCalledOnLoad\n${readFileSync(path, "utf8")}`);
  }
}

// licenses lists every package that may be part of the bundle with its license text.
function licenses() {
  const lock = JSON.parse(readFileSync(join(web, "package-lock.json"), "utf8"));
  const parts = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    const bundled = path !== "" && (!entry.dev || path === "node_modules/rapidoc");
    if (!bundled || !existsSync(join(web, path))) continue;
    const file = readdirSync(join(web, path)).find((name) => /^(licen[cs]e|copying)/i.test(name));
    const text = file ? readFileSync(join(web, path, file), "utf8").trim() : `License: ${entry.license ?? "see the package"}`;
    parts.push(`${path.replace(/^.*node_modules\//, "")} ${entry.version} (${entry.license ?? "see below"})\n\n${text}`);
  }
  return `What the console is built from, and under which licenses.\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

function compress(path) {
  const content = readFileSync(path);
  const brotli = brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  if (brotli.length > content.length * 0.9) return;
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}

// preloadFont makes the page ask for the font while its scripts arrive.
function preloadFont() {
  const path = join(dist, "index.html");
  const link = `<link rel="preload" as="font" type="font/woff2" crossorigin href="/assets/${fontOf()}" />`;
  writeFileSync(path, readFileSync(path, "utf8").replace("</title>", `</title>\n    ${link}`));
}

/** finish runs all steps. */
export function finish() {
  manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));
  checkWeight();
  compileEarly();
  preloadFont();
  rmSync(join(dist, ".vite"), { recursive: true });
  writeFileSync(join(dist, "licenses.txt"), licenses());
  for (const path of files(dist)) if (/\.(js|css|html|svg|txt|json)$/.test(path)) compress(path);
}
