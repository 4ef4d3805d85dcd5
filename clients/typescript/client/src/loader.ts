// Loads values from the server into a box.

import {
  ALL,
  type Contents,
  type Kind,
  outranks,
  type Part,
  readDocument,
  type Snapshot,
  withResources,
  withSnapshot,
} from "./contents.js";
import { ConnectionError, NotFoundError, ServerStaleError } from "./errors.js";
import { asError } from "./failures.js";
import type { Response, Transport } from "./http.js";
import type { Settings } from "./settings.js";
import { isObject, type Members } from "./values.js";

/** The parts of a box that loading needs. */
export interface Loaded {
  readonly settings: Settings;
  readonly contents: Contents;
  /** Makes contents the current ones. changed are the keys of flags that may differ; without it, all are compared. */
  apply(contents: Contents, changed?: readonly string[]): void;
  /** Records that the contents are still current after a change. */
  moveTo(seq: number): void;
}

const PATHS: Readonly<Record<Kind, string>> = { flags: "flags", loggers: "loggers", groups: "log_groups" };

/** Loads snapshots and single resources. Its calls must not overlap: an older answer could replace a newer one. */
export class Loader {
  /** The ETag of the last snapshot; empty once a single resource was applied after it. */
  private etag = "";

  constructor(
    private readonly box: Loaded,
    private readonly transport: Transport,
    /** Is called with the number of the last change in a whole snapshot, before it is applied. */
    private readonly begin: (seq: number) => void,
  ) {}

  /** Loads parts of the snapshot and applies them. A request for all parts has the ETag, so that an unchanged snapshot is not
   * sent again. */
  async snapshot(parts: readonly Part[]): Promise<void> {
    const path = `/api/v1/snapshots/${encodeURIComponent(this.box.settings.environment)}`;
    const whole = parts.length === ALL.length;
    const response = await this.transport.request({
      method: "GET",
      path,
      headers: whole && this.etag ? { "If-None-Match": this.etag } : {},
      query: whole ? undefined : { include: parts.join(",") },
      accepted: [304],
    });
    const snapshot = snapshotIn(response, path);
    const known = this.box.contents;
    if (outranks(known, snapshot)) {
      // The contents are newer than the server's memory from before it lost its database.
    } else if (response.status === 304) {
      this.moveOn(snapshot);
    } else if (!whole && snapshot.seq < known.seq) {
      await this.snapshot(ALL); // the database was restored: the other parts have gone back too
      return;
    } else {
      this.apply(snapshot, parts, whole, response.header("etag") ?? "");
    }
    if (snapshot.staleSince !== undefined) {
      const since = snapshot.staleSince;
      throw new ServerStaleError(`the server cannot reach its database (since ${since}); these are the last values that it knows`);
    }
  }

  private apply(snapshot: Snapshot, parts: readonly Part[], whole: boolean, etag: string): void {
    this.etag = whole && snapshot.staleSince === undefined ? etag : "";
    if (whole) {
      this.begin(snapshot.seq);
    }
    let contents: Contents;
    try {
      contents = withSnapshot(this.box.contents, this.box.settings.environment, snapshot, parts);
    } catch (error) {
      throw new ConnectionError(`the snapshot cannot be read: ${asError(error).message}`, { cause: error });
    }
    this.box.apply(contents);
  }

  /** Records the account's last change after an unmodified snapshot. */
  private moveOn(confirmed: Snapshot): void {
    if (confirmed.seq > 0 && confirmed.staleSince === undefined) {
      this.begin(confirmed.seq);
      this.box.moveTo(confirmed.seq);
    }
  }

  /** Reads resources one by one and applies them together. */
  async single(seq: number, keys: Readonly<Record<Kind, ReadonlySet<string>>>): Promise<void> {
    const kinds = (Object.keys(keys) as Kind[]).filter((kind) => keys[kind].size > 0);
    if (kinds.length === 0) {
      return;
    }
    this.etag = "";
    const found = new Map<Kind, Map<string, Members | undefined>>();
    for (const kind of kinds) {
      const pairs = [...keys[kind]].map(async (key) => [key, await this.get(kind, key)] as const);
      found.set(kind, new Map(await Promise.all(pairs)));
    }
    let { contents } = this.box;
    for (const [kind, changes] of found) {
      contents = withResources(contents, seq, kind, changes, this.box.settings.environment);
    }
    this.box.apply(contents, [...keys.flags].sort());
  }

  /** Returns the attributes of a resource; undefined if there is no such resource. */
  private async get(kind: Kind, key: string): Promise<Members | undefined> {
    const path = `/api/v1/${PATHS[kind]}/${encodeURIComponent(key)}`;
    let document: unknown;
    try {
      document = (await this.transport.request({ method: "GET", path })).json();
    } catch (error) {
      if (error instanceof NotFoundError) {
        return undefined;
      }
      throw error;
    }
    const data = isObject(document) ? document.data : undefined;
    const attributes = isObject(data) ? data.attributes : undefined;
    if (!isObject(attributes)) {
      throw new ConnectionError(`GET ${path}: the answer is not a resource`);
    }
    return attributes;
  }
}

function snapshotIn(response: Response, path: string): Snapshot {
  if (response.status === 304) {
    return { seq: Number(response.header("signalbox-seq")) || 0, staleSince: response.header("age"), attributes: {} };
  }
  try {
    return readDocument(response.json());
  } catch (error) {
    throw new ConnectionError(`GET ${path}: the answer is not a snapshot: ${asError(error).message}`, { cause: error });
  }
}
