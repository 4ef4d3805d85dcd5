import { expect, test } from "vitest";
import { localPath } from "./signin";

test("a link never leads to another site", () => {
  expect(localPath("/flags?env=production")).toBe("/flags?env=production");
  for (const next of [undefined, "", "//evil.example", "/\\evil.example", "https://evil.example", "flags", "/sign-in?next=/"]) {
    expect(localPath(next)).toBe("/");
  }
});
