// Builds both packages into their dist folders:
//
// - CommonJS of everything, and for ESM a wrapper of each module that needs Node.js. A program that uses both forms, such as
//   through a library, must not have two stores of contexts.
// - ESM of the modules for browsers, for bundlers.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const at = (...parts) => join(here, ...parts);

function run(program, ...args) {
  const { bin } = require(`${program}/package.json`);
  const script = typeof bin === "string" ? bin : (bin[program] ?? bin.tsc);
  execFileSync(process.execPath, [at("node_modules", program, script), ...args], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
}

function tsc(project) {
  const { bin } = require("typescript/package.json");
  execFileSync(process.execPath, [at("node_modules/typescript", bin.tsc), "-p", at(project)], { cwd: here, stdio: "inherit" });
}

/** The types of the management calls. */
function schema() {
  const [from, to] = [at("../../openapi/openapi.yaml"), at("client/src/schema.d.ts")];
  if (!existsSync(to) || statSync(to).mtimeMs < statSync(from).mtimeMs) {
    run("openapi-typescript", from, "--output", to);
  }
}

/** Writes the ESM form of a CommonJS module. */
function wrap(name) {
  const names = Object.keys(require(at("client/dist", `${name}.js`))).filter((each) => each !== "__esModule");
  writeFileSync(at("client/dist", `${name}.mjs`), `import module from "./${name}.js";\nexport const { ${names.join(", ")} } = module;\n`);
  writeFileSync(at("client/dist", `${name}.d.mts`), `export * from "./${name}.js";\n`);
}

for (const name of ["client", "react"]) {
  rmSync(at(name, "dist"), { recursive: true, force: true });
}
schema();
tsc("client/tsconfig.json");
copyFileSync(at("client/src/schema.d.ts"), at("client/dist/schema.d.ts"));
for (const name of ["index", "api", "testing", "openfeature"]) {
  wrap(name);
}
tsc("client/tsconfig.esm.json");
tsc("react/tsconfig.json");
tsc("react/tsconfig.esm.json");
for (const name of ["client", "react"]) {
  mkdirSync(at(name, "dist/esm"), { recursive: true });
  writeFileSync(at(name, "dist/esm/package.json"), '{ "type": "module" }\n');
  copyFileSync(at("../../LICENSE"), at(name, "LICENSE"));
}
