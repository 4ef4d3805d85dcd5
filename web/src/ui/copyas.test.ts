import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCurl } from "./copyas";

test("a shell reads the command as it was meant, quotes included", () => {
  const body = { data: { attributes: { name: `it's "here" $HOME` } } };
  const command = asCurl("http://localhost:8080", { method: "PUT", path: "/api/v1/flags/a%2Fb", body });
  const script = `curl() { printf '%s\\n' "$@"; }\nSIGNALBOX_KEY=k\n${command}`;
  const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
  expect(words).toEqual([
    "-X",
    "PUT",
    "http://localhost:8080/api/v1/flags/a%2Fb",
    "-H",
    "Authorization: Bearer k",
    "-H",
    "Prefer: handling=strict",
    "-H",
    "Content-Type: application/vnd.api+json",
    "-d",
    JSON.stringify(body),
  ]);
});
