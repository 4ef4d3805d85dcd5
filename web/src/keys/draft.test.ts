import { expect, test } from "vitest";
import { attributesOf, commandOf, empty, exampleFor, goOf, stateOf } from "./draft";

const now = new Date("2030-01-01T00:00:00Z");

test("a key without choices is unrestricted and stays", () => {
  expect(JSON.parse(JSON.stringify(attributesOf({ ...empty, name: "ci" }, now)))).toEqual({
    name: "ci",
    access: "full",
    role: "MEMBER",
    scopes: {},
  });
});

test("a browser's key only reads, for its environment and origins", () => {
  const draft = {
    ...empty,
    name: "web",
    access: "evaluate" as const,
    environments: ["production"],
    origins: "https://a.example\nhttps://b.example",
    days: "30",
  };
  expect(attributesOf(draft, now)).toEqual({
    name: "web",
    access: "evaluate",
    role: "VIEWER",
    scopes: { environments: ["production"], origins: ["https://a.example", "https://b.example"] },
    expires_at: "2030-01-31T00:00:00.000Z",
  });
});

test("an expired or revoked key says so", () => {
  expect(stateOf({ status: "ACTIVE", expires_at: null }, now.getTime())).toBe("active");
  expect(stateOf({ status: "ACTIVE", expires_at: "2029-12-31T00:00:00Z" }, now.getTime())).toBe("expired");
  expect(stateOf({ status: "REVOKED", expires_at: null }, now.getTime())).toBe("revoked");
});

test("the example fits the kind of key", () => {
  expect(exampleFor("https://s", "evaluate", "sk")).toContain("https://s/ofrep/v1/evaluate/flags");
  expect(exampleFor("https://s", "levels", "sk", "qa 1")).toBe("https://s/levels/sk/qa%201/logback.properties?service=NAME");
  expect(exampleFor("https://s", "full", "sk")).toContain("https://s/api/v1/flags");
});

test("a key is created by a command and by the Go client too", () => {
  const draft = { ...empty, name: "web", access: "evaluate" as const, environments: ["qa"], origins: "https://shop.example", days: "30" };
  expect(commandOf(draft)).toBe(
    "signalbox keys create web --access evaluate --role VIEWER -e qa --origin https://shop.example --expires-in 30d",
  );
  expect(goOf(draft)).toBe(
    'saved, err := client.Keys.Create(ctx, signalbox.KeyDraft{Name: "web", Role: "VIEWER", Access: "evaluate", Scopes: &signalbox.KeyScopes{Environments: []string{"qa"}, Origins: []string{"https://shop.example"}}, ExpiresAt: new(time.Now().AddDate(0, 0, 30))})',
  );
  expect(commandOf({ ...empty, name: "CI" })).toBe("signalbox keys create CI --role MEMBER");
});
