import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import type { Write } from "./requests";
import { type Dialogs, Writer } from "./write";

afterEach(() => vi.unstubAllGlobals());

type Answer = (method: string, url: string) => Response | "cut";

/** writerWith returns a writer whose server gives the answers of the test, with the requests and messages that it made. */
function writerWith(answer: Answer) {
  const sent: string[] = [];
  vi.stubGlobal("fetch", async (url: string, { method }: { method: string }) => {
    sent.push(`${method} ${url}`);
    const response = answer(method, url);
    if (response === "cut") throw new TypeError("network");
    return response;
  });
  const said: string[] = [];
  const undos: (unknown | undefined)[] = [];
  const dialogs: Dialogs = {
    confirm: async () => ({}),
    resolve: async () => true,
    succeeded: (message, undo) => {
      said.push(message);
      undos.push(undo);
    },
    failed: (title, { message }) => said.push(`${title}: ${message}`),
  };
  return { writer: new Writer(new QueryClient(), dialogs), sent, said, undos };
}

const flag = (description: string, etag: string) =>
  Response.json({ data: { type: "flag", id: "a", attributes: { description } } }, { headers: { ETag: etag } });

const change: Write<"flag"> = { kind: "flag", id: "a", title: "Change a", done: "a was changed.", change: () => ({ description: "new" }) };

/** reads answers the reads of a resource in turn. */
const reads = (...versions: (() => Response)[]): Answer => {
  return (method, url) => {
    if (method !== "GET") return "cut";
    if (url.includes("/changes")) return Response.json({ data: [] });
    return ((versions.length > 1 ? versions.shift() : versions[0]) as () => Response)();
  };
};

test("a second click while the first is in progress does nothing", async () => {
  const { writer, sent } = writerWith((method) => (method === "GET" ? flag("old", '"1"') : flag("new", '"2"')));
  await Promise.all([writer.attempt(change), writer.attempt(change)]);
  expect(sent.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
  expect(writer.isWriting("flag", "a")).toBe(false);
});

test("other writes of the resource follow the first, one after the other, even if it fails", async () => {
  let puts = 0;
  const { writer, sent, said } = writerWith((method) => {
    if (method === "GET") return flag("old", '"1"');
    return puts++ === 0 ? Response.json({ errors: [{ status: "409", title: "no" }] }, { status: 409 }) : flag("new", '"2"');
  });
  const inEach = ["development", "staging"].map((place) => ({
    ...change,
    title: `Switch a off in ${place}`,
    done: `a is off in ${place}.`,
  }));
  await Promise.all([...inEach, ...inEach].map((write) => writer.attempt(write)));
  expect(sent.map((line) => line.split(" ")[0])).toEqual(["GET", "PUT", "GET", "PUT"]);
  expect(said).toEqual(["Switch a off in development: no", "a is off in staging."]);
  expect(writer.isWriting("flag", "a")).toBe(false);
});

test("a write whose answer was cut is looked up: it was carried out", async () => {
  const { writer, said } = writerWith(
    reads(
      () => flag("old", '"1"'),
      () => flag("new", '"2"'),
    ),
  );
  await writer.attempt(change);
  expect(said).toEqual(["a was changed."]);
});

test("a write whose answer was cut is looked up: it was not carried out", async () => {
  const { writer, said } = writerWith(reads(() => flag("old", '"1"')));
  await writer.attempt(change);
  expect(said).toEqual(["Change a: The server did not answer, and nothing was changed. Try again."]);
});

test("what stays unknown is said as unknown", async () => {
  const { writer, said } = writerWith(
    reads(
      () => flag("old", '"1"'),
      () => flag("somebody else", '"2"'),
    ),
  );
  await writer.attempt(change);
  expect(said).toEqual(["Change a: The server did not answer, so it is not known whether this was done."]);
});

test("a creation whose answer was cut is sent again with the same key", async () => {
  let cuts = 1;
  const { writer, said } = writerWith(() => (cuts-- > 0 ? "cut" : flag("new", '"1"')));
  await writer.attempt({ ...change, method: "POST", done: "Created a." });
  expect(said).toEqual(["Created a."]);
});

const wrote = (number: string) =>
  Response.json(
    { data: { type: "flag", id: "a", attributes: { description: "new" } } },
    { headers: { ETag: '"2"', "Signalbox-Change": number } },
  );

test("Undo reverts the change that the write made, whatever others changed in the same moment", async () => {
  const { writer, sent, undos } = writerWith((method, url) => {
    if (method === "PUT") return wrote("7");
    return url.includes("/changes")
      ? Response.json({ data: { type: "change", id: "7", attributes: { summary: [] } } })
      : flag("old", '"1"');
  });
  await writer.attempt(change);
  await (undos[0] as () => Promise<void>)();
  expect(sent.at(-1)).toBe("POST /api/v1/changes/7/actions/revert");
  expect(sent.filter((line) => line.includes("/changes?"))).toEqual([]);
});

test("a write that changed nothing has nothing to undo", async () => {
  const { writer, undos } = writerWith(() => flag("old", '"1"'));
  await writer.attempt(change);
  expect(undos).toEqual([undefined]);
});
