import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCommand, asCurl, asGo, goText } from "./copyas";

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

test("a command quotes what a shell would split, and leaves out what is empty", () => {
  expect(asCommand(["environments", "create", "qa"], { name: "it's QA", color: "#00aa77" })).toBe(
    "signalbox environments create qa --name 'it'\\''s QA' --color '#00aa77'",
  );
  expect(asCommand(["keys", "create", "CI"], { role: null, e: ["qa", "staging"], origin: [], "expires-in": "" })).toBe(
    "signalbox keys create CI -e qa -e staging",
  );
});

test("a call of the Go client has the members that are set", () => {
  expect(asGo("Environments.Create", "qa", "EnvironmentDraft", { Name: goText('"QA"'), Color: goText("") })).toBe(
    'saved, err := client.Environments.Create(ctx, "qa", signalbox.EnvironmentDraft{Name: "\\"QA\\""})',
  );
  expect(asGo("Invitations.Create", undefined, "InvitationDraft", { Email: goText("a@b.c") })).toBe(
    'saved, err := client.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "a@b.c"})',
  );
});
