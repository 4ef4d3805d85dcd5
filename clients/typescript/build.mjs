// Builds both packages into their dist folders:
// - CommonJS of everything. For ESM, each module that needs Node.js is a wrapper of its CommonJS form: a program that
// uses both forms, such as through a library, must not have two stores of contexts.
// - ESM of the modules for browsers, for bundlers.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const at = (...parts) => join(here, ...parts);

const WRAPPED = ["index", "api", "testing", "openfeature"];
const FOR_BROWSERS = ["browser", "openfeature-web", "ofrep", "errors", "failures", "listeners", "murmur3", "state", "stored", "values"];

function run(script, ...args) {
  execFileSync(process.execPath, [at("node_modules", script), ...args], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
}

/** Generates the types of the management calls. */
function makeSchema() {
  const [from, to] = [at("../../openapi/openapi.yaml"), at("client/src/schema.d.ts")];
  if (!existsSync(to) || statSync(to).mtimeMs < statSync(from).mtimeMs) {
    run("openapi-typescript/bin/cli.js", from, "--output", to);
  }
}

/** Compiles a package to CommonJS, with its types. */
function compile(name) {
  rmSync(at(name, "dist"), { recursive: true, force: true });
  try {
    execFileSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at(name)], { stdio: "inherit" });
  } catch {
    process.exit(1); // the compiler has printed its errors
  }
  copyFileSync(at("../../LICENSE"), at(name, "LICENSE"));
}

/** Writes the ESM form of a CommonJS module. */
function wrap(name) {
  const names = Object.keys(require(at("client/dist", `${name}.js`)));
  writeFileSync(at("client/dist", `${name}.mjs`), `import module from "./${name}.js";\nexport const { ${names.join(", ")} } = module;\n`);
  writeFileSync(at("client/dist", `${name}.d.mts`), `export * from "./${name}.js";\n`);
}

/** Writes modules as ESM too. Their types are the same. */
function translate(name, modules) {
  mkdirSync(at(name, "dist/esm"));
  writeFileSync(at(name, "dist/esm/package.json"), '{ "type": "module" }\n');
  for (const each of modules) {
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, verbatimModuleSyntax: true };
    const { outputText } = ts.transpileModule(readFileSync(at(name, "src", `${each}.ts`), "utf8"), { compilerOptions });
    writeFileSync(at(name, "dist/esm", `${each}.js`), outputText);
    copyFileSync(at(name, "dist", `${each}.d.ts`), at(name, "dist/esm", `${each}.d.ts`));
  }
}

makeSchema();
compile("client");
copyFileSync(at("client/src/schema.d.ts"), at("client/dist/schema.d.ts"));
WRAPPED.forEach(wrap);
translate("client", FOR_BROWSERS);
compile("react");
translate("react", ["index"]);
