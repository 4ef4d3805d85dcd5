// The management calls, by a real server.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { API, ConflictError, InvalidError, NotFoundError, SettingsError } from "@signalbox/client/api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { OWNER_KEY, Server } from "./support.js";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
});

afterAll(() => server.stop());

test("management calls", async () => {
  const api = new API({ url: server.url, key: OWNER_KEY });
  const body = { data: { id: "managed.call", type: "flag", attributes: { type: "STRING", default: "a" } } } as const;
  const made = await api.createFlag({ body });
  expect(made.data.attributes.default).toBe("a");
  const { data } = await api.listFlags({ query: { "filter[search]": "managed.call", "meta[total]": true } });
  expect(data.map((each) => each.id)).toEqual(["managed.call"]);
  const conflict = await api.createFlag({ body }).catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(ConflictError);
  expect(conflict).toMatchObject({ status: 409, code: "already_exists", request: "POST /api/v1/flags" });
  const wrong = { data: { id: "wrong", type: "flag", attributes: { type: "TEXT" as "STRING", default: "a" } } } as const;
  await expect(api.createFlag({ body: wrong })).rejects.toThrow("/data/attributes/type");
  await expect(api.createFlag({ body: wrong })).rejects.toThrow(InvalidError);
  expect(await api.deleteFlag({ path: { id: "managed.call" }, headers: { "Signalbox-Note": "no%20longer%20used" } })).toBeUndefined();
  await expect(api.getFlag({ path: { id: "managed.call" } })).rejects.toThrow(NotFoundError);
  await expect(api.getFlag({ path: { id: "managed.call" } })).rejects.toThrow(/managed\.call/);
  api.close();
});

test("management calls need a server and a key", () => {
  vi.stubEnv("SIGNALBOX_URL", "");
  expect(() => new API()).toThrow(SettingsError);
  vi.unstubAllEnvs();
  expect(() => new API({ url: server.url, key: "sk_api_é" })).toThrow("the API key has a space, a line break or another character");
});

test("a key with a line break at its end is accepted", async () => {
  const api = new API({ url: server.url, key: `${OWNER_KEY}\n` });
  expect((await api.listFlags()).data).toBeInstanceOf(Array);
  api.close();
});

test("the management calls are those of the server", async () => {
  // @ts-expect-error: a script without types
  const { generate } = await import("../client/generate.mjs");
  const document = await server.admin.request("GET", "/api/openapi.json");
  const kept = readFileSync(join(import.meta.dirname, "../client/src/operations.ts"), "utf8");
  expect(generate(document), "run make api-calls").toBe(kept);
});
