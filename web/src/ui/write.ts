import type { QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { refresh } from "../api/below";
import { type Answer, ApiError, asApiError, send } from "../api/client";
import type { Kind, Resource, Sentence, Single } from "../api/kinds";
import { concerned } from "../api/live";
import { keyOf, type Loaded, load } from "../api/queries";
import { sentencesOf } from "./changes";
import { same } from "./diff";
import { asks, type Body, bodyOf, currentOf, dryRun, hasDryRun, newest, request, type Write } from "./requests";

/** Question is a confirmation before a write. */
export interface Question {
  title: string;
  before: unknown;
  after: unknown;
  /** summary describes the effect of the write in sentences. */
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
  /** did describes the change by somebody else in sentences, and would the effect of the write after it. */
  did?: Sentence[];
  would?: Sentence[];
}

/** Consent is the answer to a question; undefined is no. */
export type Consent = { note?: string } | undefined;

/** Dialogs show the confirmations and messages of writes. */
export interface Dialogs {
  confirm: (question: Question) => Promise<Consent>;
  resolve: (conflict: Conflict) => Promise<boolean>;
  /** said describes the effect of the write in the sentences of the history. */
  succeeded: (message: string, undo?: () => Promise<void>, said?: Promise<string[]>) => void;
  failed: (title: string, failure: ApiError) => void;
}

/** Written is the result of a write that was carried out. Without the number of its change it cannot be undone. */
type Written<K extends Kind> = Pick<Answer<Single<K> | undefined>, "document" | "etag" | "change">;

/** Writing is a write that is in progress, or that waits for earlier writes of the same resource. */
interface Writing {
  write: Said;
  end: Promise<unknown>;
}

type Said = Pick<Write<Kind>, "title" | "done">;

// isSame reports whether two writes of a resource are the same action. Their words name the resource, the place and the value.
const isSame = (one: Said, other: Said) => one.title === other.title && one.done === other.done;

/** Writer performs writes: it asks for confirmation where needed, resolves conflicts, and offers to undo. */
export class Writer {
  private readonly queries: QueryClient;
  private readonly dialogs: Dialogs;
  private readonly writing = new Map<string, Writing[]>();
  private readonly listeners = new Set<() => void>();

  constructor(queries: QueryClient, dialogs: Dialogs) {
    this.queries = queries;
    this.dialogs = dialogs;
  }

  /**
   * perform returns the resource after the write, or undefined when the user canceled it. It throws the
   * server's error, for the form to show beside its members; a write without a form uses attempt. Writes of one
   * resource run one after the other.
   */
  async perform<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    const name = `${write.kind}:${write.id}`;
    const earlier = this.writing.get(name) ?? [];
    if (earlier.some((other) => isSame(other.write, write))) return undefined; // a second click
    const end = Promise.allSettled(earlier.map((other) => other.end)).then(() => this.run(write));
    const writing = { write, end };
    this.setWriting(name, [...earlier, writing]);
    try {
      return await end;
    } finally {
      this.setWriting(name, this.writing.get(name)?.filter((other) => other !== writing) ?? []);
    }
  }

  /** isWriting reports whether a write of a resource is in progress. */
  isWriting = (kind: Kind, id: string) => this.writing.has(`${kind}:${id}`);

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private setWriting(name: string, writing: Writing[]): void {
    if (writing.length > 0) this.writing.set(name, writing);
    else this.writing.delete(name);
    for (const listener of this.listeners) listener();
  }

  private async run<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    for (let current = await currentOf(write); ; current = await currentOf({ ...write, etag: undefined })) {
      const body = bodyOf(write, current);
      try {
        const consent = asks(write) ? await this.confirmed(write, current, body) : {};
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

  /** attempted is attempt for callers that need the written resource, which may have a new secret. */
  async attempted<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    try {
      return await this.perform(write);
    } catch (failure) {
      this.dialogs.failed(write.title, asApiError(failure));
      return undefined;
    }
  }

  private async confirmed<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown): Promise<Consent> {
    const { document } = hasDryRun(write) ? await dryRun(write, current, body) : { document: undefined };
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
    const { document, etag, change } = await request(write, current, body).catch((failure) =>
      this.verified(write, current, body, asApiError(failure)),
    );
    const after = document?.data ?? current?.resource ?? ({ id: write.id, type: write.kind } as Resource<K>);
    if (document && !write.final) this.queries.setQueryData(keyOf.one(write.kind, after.id), { resource: after, etag });
    this.refresh(write.kind, after.id);
    if (write.final || change === "") this.dialogs.succeeded(write.done);
    else this.succeeded(write, after.id, change);
    return after;
  }

  // refresh reads everything again that a change may have altered, including resources that inherit
  // from this one.
  private refresh(kind: Kind, id: string): void {
    refresh(this.queries, concerned(`${kind}_changed`, id || undefined));
  }

  // verified finds out whether a write whose answer did not arrive was carried out. It throws the failure if that stays
  // unknown.
  private async verified<K extends Kind>(
    write: Write<K>,
    current: Loaded<K> | undefined,
    body: Body | undefined,
    failure: ApiError,
  ): Promise<Written<K>> {
    if (failure.code !== "unknown") throw failure;
    this.refresh(write.kind, write.id);
    if (write.action || write.method === "POST") return request(write, current, body); // with the same key
    const now = await load(write.kind, write.id).catch((problem) => {
      if (asApiError(problem).status !== 404) throw failure;
      return undefined;
    });
    if (!now && write.method === "DELETE") return { document: undefined, etag: "", change: "" };
    if (now?.etag === current?.etag)
      throw new ApiError(0, "not_done", "The server did not answer, and nothing was changed. Try again.", "");
    const sent = Object.entries(body?.data.attributes ?? {}).filter(([, value]) => value !== undefined);
    const stored = now?.resource.attributes as Record<string, unknown> | undefined;
    if (!now || !sent.every(([name, value]) => same(value, stored?.[name]))) throw failure;
    return { document: { data: now.resource }, etag: now.etag, change: "" };
  }

  // succeeded shows a message with the sentences of the change and a button that undoes exactly this change.
  private succeeded<K extends Kind>({ done, kind }: Write<K>, id: string, change: string): void {
    const said = load("change", change).then(
      ({ resource }) => sentencesOf(resource.attributes.summary),
      () => [],
    );
    this.dialogs.succeeded(done, () => this.undo(kind, id, change), said);
  }

  private async undo(kind: Kind, id: string, change: string): Promise<void> {
    try {
      await send("POST", `/api/v1/changes/${change}/actions/revert`);
      this.refresh(kind, id);
      this.dialogs.succeeded("Undone.");
    } catch (failure) {
      this.dialogs.failed("Undo", asApiError(failure));
    }
  }

  private async resolved<K extends Kind>(write: Write<K>, body: Body | undefined): Promise<boolean> {
    const [theirs, change] = await Promise.all([load(write.kind, write.id), newest(write.kind, write.id)]);
    const next = bodyOf(write, theirs) ?? body;
    const dry = await dryRun(write, theirs, next).catch(() => undefined);
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

/** isRefusal reports whether a failure is a 4xx answer, which a form shows. */
export function isRefusal(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && failure.status >= 400 && failure.status < 500;
}
