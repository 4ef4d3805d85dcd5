import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { below, refresh } from "./below";
import type { Kind } from "./kinds";

/** State says whether changes arrive; since is the time of the last message from the server. */
export interface State {
  status: "connecting" | "live" | "reconnecting" | "offline";
  since: Date;
}

interface Message {
  type?: string;
  event?: string;
  id?: string;
  seq?: number;
}

/** silence is how long the server may be silent; it sends a heartbeat every 30 s. */
const silence = 45_000;

/** offlineAfter is how long a lost connection may last before writes are disabled. */
const offlineAfter = 10_000;

/**
 * reports are the delays after a change of a level at which levels are read again, because services report the new level by
 * then.
 */
const reports = [1500, 4000, 10_000, 30_000, 70_000];

/** connecting is how long a new socket may take to open. */
const connecting = 10_000;

/**
 * unannounced are the kinds without a bulk event. When a stream begins, the server says whether flags, configs and levels
 * may have changed before it; the other kinds are read again in any case.
 */
const unannounced = [
  ["job"],
  ["usage"],
  ["environment"],
  ["settings"],
  ["account_settings"],
  ["user_settings"],
  ["api_key"],
  ["user"],
  ["invitation"],
  ["link"],
  ["session"],
  ["change"],
];

/**
 * Live keeps the event socket open and invalidates the queries that a change concerns. It resumes after the
 * last event, so nothing is missed; when the server cannot replay, it sends events for everything.
 */
export class Live {
  private state: State = { status: "connecting", since: new Date() };
  private readonly listeners = new Set<() => void>();
  private readonly pending = new Map<string, readonly unknown[]>();
  private socket?: WebSocket;
  private seq?: number;
  private attempts = 0;
  private timer?: ReturnType<typeof setTimeout>;
  private watchdog?: ReturnType<typeof setTimeout>;
  private offline?: ReturnType<typeof setTimeout>;
  private heard = new Date();
  private readonly followed = new Map<string, readonly unknown[]>();
  private following: ReturnType<typeof setTimeout>[] = [];
  private flushing?: ReturnType<typeof setTimeout>;
  private stopped = true;
  private readonly queries: QueryClient;
  private readonly onRefused: () => void;

  constructor(queries: QueryClient, onRefused: () => void = () => {}) {
    this.queries = queries;
    this.onRefused = onRefused;
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.connect();
    window.addEventListener("online", this.retry);
  }

  /** stop closes the socket. What was heard is forgotten, because somebody else may sign in before the next start. */
  stop(): void {
    this.stopped = true;
    for (const timer of [this.timer, this.watchdog, this.offline, this.flushing, ...this.following]) clearTimeout(timer);
    this.offline = undefined;
    this.flushing = undefined;
    this.pending.clear();
    this.followed.clear();
    this.seq = undefined;
    this.attempts = 0;
    window.removeEventListener("online", this.retry);
    const old = this.socket;
    this.socket = undefined;
    old?.close();
    this.set("connecting");
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = () => this.state;

  private set(status: State["status"], since = this.state.since): void {
    if (this.state.status === status && this.state.since === since) return;
    this.state = { status, since };
    for (const listener of this.listeners) listener();
  }

  /** retry connects now instead of waiting for the next attempt. */
  retry = () => {
    if (this.stopped || this.state.status === "live") return;
    clearTimeout(this.timer);
    this.connect();
  };

  /**
   * doubt opens a new socket because a request got no answer: the connection of the old one may be lost
   * without a close event.
   */
  doubt(): void {
    if (this.stopped || this.state.status !== "live") return;
    this.forsake();
  }

  // forsake abandons a silent socket, whose close event may never come.
  private forsake(): void {
    const old = this.socket;
    this.socket = undefined;
    old?.close();
    this.lost();
  }

  private connect(): void {
    const url = new URL("/api/ws/v1/events", window.location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("topics", "all");
    if (this.seq !== undefined) url.searchParams.set("since", String(this.seq));
    this.socket?.close();
    const socket = new WebSocket(url);
    this.socket = socket;
    this.watch();
    socket.onmessage = ({ data }) => this.socket === socket && this.hear(String(data));
    socket.onclose = () => this.socket === socket && this.lost();
  }

  // watch abandons the socket if nothing arrives on it: a network that swallows packets never closes it.
  private watch(): void {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.forsake(), this.state.status === "live" ? silence : connecting);
  }

  private hear(text: string): void {
    this.heard = new Date();
    this.watch();
    if (text === "ping") {
      this.socket?.send("pong");
      return;
    }
    const message = JSON.parse(text) as Message;
    if (message.type === "connected") this.connected(message);
    if (message.seq !== undefined) this.seq = message.seq;
    if (message.event) this.invalidate(message.event, message.id);
  }

  private connected(message: Message): void {
    // Data that was read before the stream began may be outdated, unless the stream continues the previous one.
    if (this.seq !== message.seq) for (const key of unannounced) this.later(key);
    this.attempts = 0;
    clearTimeout(this.offline);
    this.offline = undefined;
    this.set("live", this.heard);
    this.watch();
  }

  private lost(): void {
    if (this.stopped) return;
    clearTimeout(this.watchdog);
    if (this.state.status === "live") this.set("reconnecting", this.heard);
    this.offline ??= setTimeout(() => this.set("offline"), offlineAfter);
    if (this.attempts === 2) this.onRefused(); // the session may have ended; a request will show it
    const wait = Math.min(15_000, 300 * 2 ** this.attempts) * (0.7 + 0.6 * Math.random());
    this.attempts++;
    this.timer = setTimeout(() => this.connect(), wait);
  }

  private invalidate(event: string, id?: string): void {
    for (const key of concerned(event, id)) this.later(key);
    if (/^(group|log_group|environment)s?_/.test(event)) this.follow(["logger"]);
    if (/^loggers?_/.test(event)) this.follow(id ? below(id) : ["logger"]);
  }

  // follow reads levels again several times after a change: services adopt the new level and report it, but reports
  // send no events.
  private follow(key: readonly unknown[]): void {
    this.followed.set(JSON.stringify(key), key);
    for (const timer of this.following) clearTimeout(timer);
    this.following = reports.map((wait) => setTimeout(() => [...this.followed.values()].map((each) => this.later(each)), wait));
    this.following.push(setTimeout(() => this.followed.clear(), Math.max(...reports)));
  }

  // later collects the events of a moment, so that the list is read once for a script that writes a hundred flags.
  private later(key: readonly unknown[]): void {
    this.pending.set(JSON.stringify(key), key);
    this.flushing ??= setTimeout(() => {
      this.flushing = undefined;
      const keys = [...this.pending.values()];
      this.pending.clear();
      refresh(this.queries, keys);
    }, 50);
  }
}

/** concerned returns the prefixes of the query keys that an event makes stale. */
export function concerned(event: string, id?: string): (readonly unknown[])[] {
  const kind = event.replace(/s?_(changed|deleted)$/, "");
  const changes = ["change"] as const;
  const list = (of: Kind) => [of, "list"] as const;
  switch (kind) {
    case "logger": // its descendants inherit from it
      return [id ? below(id) : ["logger"], ["log_group"], ["logger_source"], changes];
    case "group": // its members inherit from it
    case "log_group":
      return [["logger"], ["log_group"], ["logger_source"], changes];
    case "config": // its children inherit from it
      return [["config"], changes];
    case "environment":
      return [
        ["environment"],
        ["settings"],
        ["account_settings"],
        ["user_settings"],
        ["flag"],
        ["logger"],
        ["log_group"],
        ["config"],
        changes,
      ];
    case "user":
      return [["user"], ["invitation"], ["link"], ["session"], ["settings"], changes];
    case "job.failing":
    case "job.late":
    case "job.recovered":
    case "job":
      return [id ? ["job", "one", id] : ["job"], list("job"), ["usage"], changes];
    case "flag":
      return [id ? ["flag", "one", id] : ["flag"], list("flag"), ["flag_source"], changes];
    default:
      return [[kind], changes];
  }
}

/** useLive returns whether changes arrive. */
export function useLive(live: Live): State {
  return useSyncExternalStore(live.subscribe, live.snapshot);
}
