import type { QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError, asApiError, type Query, send } from "../api/client";
import { type Kind, type Kinds, pathOf, type Resource, type Sentence, type Single, type Stream } from "../api/kinds";
import { concerned } from "../api/live";
import { keyOf, type Loaded, load } from "../api/queries";
import { same } from "./diff";

/** Write is a change of one resource, as a screen asks for it. */
export interface Write<K extends Kind> {
  kind: K;
  /** id is "" for resources that the server names: keys, invitations. */
  id: string;
  method?: "PUT" | "POST" | "DELETE";
  /** action is the name of an action on the resource, instead of a write. */
  action?: string;
  /** query has parameters of the write, such as cascade. */
  query?: Query;
  /** verb is the label of the confirming button, instead of Apply or Delete. */
  verb?: string;
  /** final means that the write cannot be undone, as with keys and people. */
  final?: boolean;
  /** title names the write: "Set shop.payments to DEBUG in production". */
  title: string;
  /** done is the message afterwards: "shop.payments is DEBUG in production". */
  done: string;
  /** environments whose values change. production asks first. */
  environments?: string[];
  /** confirm asks first, whichever environments change. */
  confirm?: boolean;
  /** consequences name further effects, with numbers. */
  consequences?: ReactNode;
  /** change returns the attributes to send. After a conflict it is called again with the newest version. */
  change?: (current: Kinds[K] | undefined) => Record<string, unknown>;
  /** note says why, for the history; a question shows it and may change it. */
  note?: string;
  /** etag is the ETag of the version in the form; without it the newest version is changed. */
  etag?: string;
}

/** Question is a confirmation before a write. */
export interface Question {
  title: string;
  before: unknown;
  after: unknown;
  /** summary is what the write does, in sentences. */
  summary?: Sentence[];
  note?: string;
  warnings: string[];
  consequences?: ReactNode;
  destructive: boolean;
  verb?: string;
}

/** Conflict is a change by somebody else since the form was opened. */
export interface Conflict {
  title: string;
  who: string;
  at: string;
  theirs: unknown;
  mine: unknown;
  /** did is what somebody else did, and would is what the write would do after it, in sentences. */
  did?: Sentence[];
  would?: Sentence[];
}

/** Consent is the answer to a question; undefined is no. */
export type Consent = { note?: string } | undefined;

/** Dialogs show the confirmations and messages of writes. */
export interface Dialogs {
  confirm: (question: Question) => Promise<Consent>;
  resolve: (conflict: Conflict) => Promise<boolean>;
  succeeded: (message: string, undo?: () => Promise<void>) => void;
  failed: (title: string, failure: ApiError) => void;
}

/** Body is the document that a write sends. */
interface Body {
  data: { type: Kind; id?: string; attributes: Record<string, unknown> };
}

/** Writer performs writes: it asks for confirmation where needed, resolves conflicts, and offers to undo. */
export class Writer {
  private readonly queries: QueryClient;
  private readonly dialogs: Dialogs;
  private readonly writing = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(queries: QueryClient, dialogs: Dialogs) {
    this.queries = queries;
    this.dialogs = dialogs;
  }

  /**
   * perform returns the resource after the write, or undefined when the user canceled it. It throws the
   * server's error, for the form to show beside its members; a write without a form uses attempt.
   */
  async perform<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    const name = `${write.kind}:${write.id}`;
    if (this.writing.has(name)) return undefined; // a second click
    this.pending(name, true);
    try {
      return await this.run(write);
    } finally {
      this.pending(name, false);
    }
  }

  /** isWriting reports whether a write of a resource is in progress. */
  isWriting = (kind: Kind, id: string) => this.writing.has(`${kind}:${id}`);

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private pending(name: string, isPending: boolean): void {
    if (isPending) this.writing.add(name);
    else this.writing.delete(name);
    for (const listener of this.listeners) listener();
  }

  private async run<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    for (let current = await this.current(write); ; current = await this.current({ ...write, etag: undefined })) {
      const body = this.body(write, current);
      try {
        const consent = this.asks(write) ? await this.confirmed(write, current, body) : {};
        if (!consent) return undefined;
        write = { ...write, ...consent };
        return await this.commit(write, current, body);
      } catch (failure) {
        if (asApiError(failure).code !== "version_mismatch") throw failure;
        if (!(await this.resolved(write, body))) return undefined;
        write = { ...write, etag: undefined };
      }
    }
  }

  /** attempt is perform for writes without a form: an error is shown as a message. It reports whether the write succeeded. */
  async attempt<K extends Kind>(write: Write<K>): Promise<boolean> {
    return (await this.attempted(write)) !== undefined;
  }

  /** attempted is attempt for those who need the resource after the write, which may have a new secret. */
  async attempted<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    try {
      return await this.perform(write);
    } catch (failure) {
      this.dialogs.failed(write.title, asApiError(failure));
      return undefined;
    }
  }

  private asks(write: Pick<Write<Kind>, "confirm" | "method" | "environments">): boolean {
    return write.confirm || write.method === "DELETE" || (write.environments ?? []).includes("production");
  }

  private async current<K extends Kind>(write: Write<K>): Promise<Loaded<K> | undefined> {
    if (write.method === "POST" || write.kind === "session") return undefined; // sessions cannot be read one by one
    try {
      const loaded = await load(write.kind, write.id);
      return write.etag ? { ...loaded, etag: write.etag } : loaded;
    } catch (failure) {
      if (write.kind === "logger" && asApiError(failure).status === 404) return undefined; // a PUT creates it
      throw failure;
    }
  }

  private body<K extends Kind>(write: Write<K>, current?: Loaded<K>): Body | undefined {
    if (write.method === "DELETE" || write.action) return undefined;
    return { data: { type: write.kind, id: write.id || undefined, attributes: write.change?.(current?.resource.attributes) ?? {} } };
  }

  private request<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown, dryRun: boolean) {
    const query = { ...write.query, dry_run: dryRun || undefined };
    const { note } = write;
    if (write.action)
      return send<Single<K> | undefined>("POST", `${pathOf(write.kind, write.id)}/actions/${write.action}`, { query, note });
    const method = write.method ?? "PUT";
    const path = pathOf(write.kind, method === "POST" ? undefined : write.id);
    return send<Single<K> | undefined>(method, path, { body, ifMatch: current?.etag, query, note });
  }

  private async confirmed<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown): Promise<Consent> {
    const dry = !write.action && write.kind !== "session"; // actions and sessions have no dry run
    const { document } = dry ? await this.request(write, current, body, true) : { document: undefined };
    return this.dialogs.confirm({
      title: write.title,
      before: current?.resource.attributes,
      after: document?.data.attributes,
      summary: document?.meta?.summary,
      note: write.note,
      warnings: (document?.meta?.warnings ?? []).map((warning) => warning.detail),
      consequences: write.consequences,
      destructive: write.method === "DELETE" || write.action !== undefined,
      verb: write.verb,
    });
  }

  private async commit<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: Body | undefined): Promise<Resource<K>> {
    const { document, etag } = await this.request(write, current, body, false).catch((failure) =>
      this.verified(write, current, body, asApiError(failure)),
    );
    const after = document?.data ?? current?.resource ?? ({ id: write.id, type: write.kind } as Resource<K>);
    if (document && !write.final) this.queries.setQueryData(keyOf.one(write.kind, after.id), { resource: after, etag });
    this.refresh(write.kind, after.id);
    this.dialogs.succeeded(write.done, write.final ? undefined : this.undo(write.kind, after.id));
    return after;
  }

  // refresh reads again what a change can have altered: also what inherits from the resource.
  private refresh(kind: Kind, id: string): void {
    for (const queryKey of concerned(`${kind}_changed`, id || undefined)) void this.queries.invalidateQueries({ queryKey });
  }

  // verified finds out whether a write was carried out whose answer did not arrive. It throws the failure if that stays unknown.
  private async verified<K extends Kind>(
    write: Write<K>,
    current: Loaded<K> | undefined,
    body: Body | undefined,
    failure: ApiError,
  ): Promise<{ document: Single<K> | undefined; etag: string }> {
    if (failure.code !== "unknown") throw failure;
    this.refresh(write.kind, write.id);
    if (write.action || write.method === "POST") return this.request(write, current, body, false); // with the same key
    const now = await load(write.kind, write.id).catch((problem) => {
      if (asApiError(problem).status !== 404) throw failure;
      return undefined;
    });
    if (!now && write.method === "DELETE") return { document: undefined, etag: "" };
    if (now?.etag === current?.etag)
      throw new ApiError(0, "not_done", "The server did not answer, and nothing was changed. Try again.", "");
    const sent = Object.entries(body?.data.attributes ?? {}).filter(([, value]) => value !== undefined);
    const stored = now?.resource.attributes as Record<string, unknown> | undefined;
    if (!now || !sent.every(([name, value]) => same(value, stored?.[name]))) throw failure;
    return { document: { data: now.resource }, etag: now.etag };
  }

  // undo remembers the change of the write, and returns a function that reverts it.
  private undo(kind: Kind, id: string): (() => Promise<void>) | undefined {
    const made = newest(kind, id);
    return async () => {
      try {
        const change = await made;
        await send("POST", `/api/v1/changes/${change?.id}/actions/revert`);
        this.refresh(kind, id);
        this.dialogs.succeeded("Undone.");
      } catch (failure) {
        this.dialogs.failed("Undo", asApiError(failure));
      }
    };
  }

  private async resolved<K extends Kind>(write: Write<K>, body: Body | undefined): Promise<boolean> {
    const [theirs, change] = await Promise.all([load(write.kind, write.id), newest(write.kind, write.id)]);
    const next = this.body(write, theirs) ?? body;
    const dry = await this.request(write, theirs, next, true).catch(() => undefined);
    return this.dialogs.resolve({
      title: write.title,
      who: change?.attributes.actor.name ?? "Somebody",
      at: change?.attributes.created_at ?? new Date().toISOString(),
      theirs: theirs.resource.attributes,
      mine: { ...theirs.resource.attributes, ...(next?.data.attributes ?? {}) },
      did: change?.attributes.summary,
      would: dry?.document?.meta?.summary,
    });
  }
}

async function newest(kind: Kind, id: string): Promise<Resource<"change"> | undefined> {
  const { document } = await send<Stream<"change">>("GET", "/api/v1/changes", {
    query: { "filter[resource]": `${kind}:${id}`, "page[size]": 1 },
  });
  return document.data[0];
}

/** isRefusal reports whether a failure is a 4xx answer, which a form shows. */
export function isRefusal(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && failure.status >= 400 && failure.status < 500;
}
