import { afterEach, expect, test, vi } from "vitest";
import { localPath, oidcOffered, sentenceFor } from "./signin";

afterEach(() => vi.unstubAllGlobals());

test("a link leads to a page of the console", () => {
  expect(localPath("/flags?env=production")).toBe("/flags?env=production");
});

test.each([undefined, "", "//evil.example", "/\\evil.example", "https://evil.example", "flags", "/sign-in?next=/"])(
  "a link never leads to another site: %j",
  (next) => {
    expect(localPath(next)).toBe("/");
  },
);

test.each([
  [["password", "api_key"], false],
  [["password", "api_key", "oidc"], true],
] as const)("OpenID Connect is offered if the server names it: %j", async (methods, offered) => {
  vi.stubGlobal("fetch", async () => Response.json({ meta: { methods } }));
  expect(await oidcOffered()).toBe(offered);
});

test("a failed sign-in is explained", () => {
  expect(sentenceFor("no_role")).toContain("Ask an administrator");
  expect(sentenceFor("anything else")).toBe("The sign-in failed. Please try again.");
});
