import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import type { Kind } from "../api/kinds";
import { applyAll, isWork, tryAll } from "./bulk";
import type { Write } from "./requests";

afterEach(() => vi.unstubAllGlobals());

interface Stored {
  etag: string;
  description: string;
}

/** serverWith answers reads, dry runs and writes of flags; it returns the ids that were written. */
function serverWith(flags: Record<string, Stored>, onWrite: (id: string) => void = () => {}) {
  const wrote: string[] = [];
  const answer = (id: string, description: string, { meta, change }: { meta?: object; change?: string } = {}) => {
    const headers = { ETag: flags[id]?.etag ?? "", ...(change && { "Signalbox-Change": change }) };
    return Response.json({ data: { type: "flag", id, attributes: { description } }, meta }, { headers });
  };
  vi.stubGlobal("fetch", async (url: string, { method, headers }: { method: string; headers: Record<string, string> }) => {
    const id = /flags\/(\w+)/.exec(url)?.[1] as string;
    const stored = flags[id] as Stored;
    if (method === "GET") return answer(id, stored.description);
    if (headers["If-Match"] !== stored.etag)
      return Response.json({ errors: [{ status: "412", code: "version_mismatch", title: "changed" }] }, { status: 412 });
    if (url.includes("dry_run"))
      return answer(id, "new", { meta: { summary: stored.description === "new" ? [] : [{ text: "Renamed", pointer: "" }] } });
    wrote.push(id);
    onWrite(id);
    return answer(id, "new", { change: "7" });
  });
  return wrote;
}

const writes = (...ids: string[]): Write<Kind>[] =>
  ids.map((id) => ({ kind: "flag", id, title: "", done: "", change: () => ({ description: "new" }) }));

test("what stays as it is, is not written: and not undone", async () => {
  const wrote = serverWith({ a: { etag: "1", description: "old" }, b: { etag: "1", description: "new" } });
  const trials = await tryAll(writes("a", "b"));
  expect(trials.map(isWork)).toEqual([true, false]);
  expect(await applyAll(new QueryClient(), trials, undefined)).toEqual({ changes: ["7"], done: 1, refused: [] });
  expect(wrote).toEqual(["a"]);
});

test("a new version with the same content is written over, and one with other content stays", async () => {
  const flags = { a: { etag: "1", description: "old" }, b: { etag: "1", description: "old" } };
  const wrote = serverWith(flags);
  const trials = await tryAll(writes("a", "b"));
  flags.a = { etag: "2", description: "old" };
  flags.b = { etag: "2", description: "somebody else's" };
  const { done, refused } = await applyAll(new QueryClient(), trials, undefined);
  expect([done, refused.map(({ id }) => id), wrote]).toEqual([1, ["b"], ["a"]]);
});
