import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import { concerned, Live } from "./live";

test("a flag's change concerns the flag, the lists and the history", () => {
  expect(concerned("flag_changed", "checkout")).toEqual([["flag", "one", "checkout"], ["flag", "list"], ["flag_source"], ["change"]]);
});

test("a bulk event concerns every flag", () => {
  expect(concerned("job.failing", "nightly")).toEqual(concerned("job_changed", "nightly"));
  expect(concerned("flags_changed")).toContainEqual(["flag"]);
});

test("a group's change concerns the loggers that inherit from it", () => {
  expect(concerned("group_deleted", "sql")).toContainEqual(["logger"]);
});

test("an environment's change concerns everything with values", () => {
  const keys = concerned("environment_changed", "staging").map(([kind]) => kind);
  expect(keys).toEqual(expect.arrayContaining(["environment", "flag", "logger", "config"]));
});

test("another kind concerns itself", () => {
  expect(concerned("api_key_changed", "x")).toEqual([["api_key"], ["change"]]);
});

/** Socket is a WebSocket whose messages a test sends. */
class Socket {
  static opened: Socket[] = [];
  onmessage?: (event: { data: string }) => void;
  onclose?: () => void;
  send = vi.fn();
  close = vi.fn(); // a dead network never says that it is closed

  constructor() {
    Socket.opened.push(this);
  }

  say(message: object | string): void {
    this.onmessage?.({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
}

function connected(queries = new QueryClient()) {
  vi.useFakeTimers();
  Socket.opened = [];
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("window", { location: { href: "http://127.0.0.1/" }, addEventListener: vi.fn(), removeEventListener: vi.fn() });
  const live = new Live(queries);
  live.start();
  (Socket.opened[0] as Socket).say({ type: "connected", seq: 1 });
  return live;
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a socket without a heartbeat for 45 s is not live, since the last one", () => {
  const live = connected();
  vi.advanceTimersByTime(30_000);
  (Socket.opened[0] as Socket).say("ping");
  const last = Date.now();
  vi.advanceTimersByTime(44_000);
  expect(live.snapshot().status).toBe("live");
  vi.advanceTimersByTime(1_500);
  expect(live.snapshot()).toEqual({ status: "reconnecting", since: new Date(last) });
  vi.advanceTimersByTime(1_000);
  expect(Socket.opened).toHaveLength(2);
  (Socket.opened[1] as Socket).say({ type: "connected", seq: 1 });
  expect(live.snapshot().status).toBe("live");
  live.stop();
});

test("a request without an answer opens a new socket at once", () => {
  const live = connected();
  live.doubt();
  expect(live.snapshot().status).toBe("reconnecting");
  vi.advanceTimersByTime(1_000);
  expect(Socket.opened).toHaveLength(2);
  live.stop();
});

test("a connection that was lost twice is offline 10 s after the second time", () => {
  const live = connected();
  const lose = () => (Socket.opened.at(-1) as Socket).onclose?.();
  lose();
  vi.advanceTimersByTime(1_000);
  (Socket.opened.at(-1) as Socket).say({ type: "connected", seq: 1 });
  expect(live.snapshot().status).toBe("live");
  vi.advanceTimersByTime(8_500);
  lose();
  vi.advanceTimersByTime(1_000);
  expect(live.snapshot().status).toBe("reconnecting");
  vi.advanceTimersByTime(9_000);
  expect(live.snapshot().status).toBe("offline");
  live.stop();
});

/** invalidated returns the first parts of the keys of the queries that were read again. */
function invalidated(queries: QueryClient) {
  const invalidate = vi.spyOn(queries, "invalidateQueries");
  return () => invalidate.mock.calls.map(([filters]) => filters?.queryKey?.[0]);
}

test("what has no bulk event is read again when a stream begins, and not when it continues", () => {
  const queries = new QueryClient();
  const kinds = invalidated(queries);
  const live = connected(queries);
  vi.advanceTimersByTime(100);
  expect(kinds()).toEqual(expect.arrayContaining(["job", "environment", "api_key", "user", "settings", "change"]));
  expect(kinds()).not.toContain("flag");
  const before = kinds().length;
  for (const [seq, reads] of [
    [1, before],
    [9, 2 * before], // the server does not know what came after 1
  ] as const) {
    live.doubt();
    vi.advanceTimersByTime(1_000);
    (Socket.opened.at(-1) as Socket).say({ type: "connected", seq });
    vi.advanceTimersByTime(100);
    expect(kinds()).toHaveLength(reads);
  }
  live.stop();
});

test("after a stop, nothing is live, and a new start follows changes again", () => {
  const queries = new QueryClient();
  const live = connected(queries);
  (Socket.opened[0] as Socket).say({ event: "flag_changed", id: "a", seq: 2 });
  live.stop();
  expect(live.snapshot().status).toBe("connecting");
  live.start();
  const kinds = invalidated(queries);
  (Socket.opened[1] as Socket).say({ type: "connected", seq: 2 });
  (Socket.opened[1] as Socket).say({ event: "flag_changed", id: "a", seq: 3 });
  vi.advanceTimersByTime(100);
  expect(kinds()).toContain("flag");
  live.stop();
});

test("levels are read again after a change, when services have reported", () => {
  const queries = new QueryClient();
  const invalidate = vi.spyOn(queries, "invalidateQueries");
  const live = connected(queries);
  const reads = () => invalidate.mock.calls.filter(([filters]) => filters?.queryKey?.[0] === "logger").length;
  (Socket.opened[0] as Socket).say({ event: "logger_changed", id: "shop", seq: 2 });
  vi.advanceTimersByTime(100);
  expect(reads()).toBe(1);
  vi.advanceTimersByTime(5_000);
  expect(reads()).toBe(3);
  live.stop();
});
