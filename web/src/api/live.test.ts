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
