import type { QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError, asApiError, type Query, send } from "../api/client";
import { type Kind, type Kinds, pathOf, type Resource, type Single, type Stream } from "../api/kinds";
import { keyOf, type Loaded, load } from "../api/queries";

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
  /** etag is the ETag of the version in the form; without it the newest version is changed. */
  etag?: string;
}

/** Question is a confirmation before a write. */
export interface Question {
  title: string;
  before: unknown;
  after: unknown;
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
}

/** Dialogs show the confirmations and messages of writes. */
export interface Dialogs {
  confirm: (question: Question) => Promise<boolean>;
  resolve: (conflict: Conflict) => Promise<boolean>;
  succeeded: (message: string, undo?: () => Promise<void>) => void;
  failed: (title: string, failure: ApiError) => void;
}

/** Writer performs writes: it asks for confirmation where needed, resolves conflicts, and offers to undo. */
export class Writer {
  private readonly queries: QueryClient;
  private readonly dialogs: Dialogs;

  constructor(queries: QueryClient, dialogs: Dialogs) {
    this.queries = queries;
    this.dialogs = dialogs;
  }

  /**
   * perform returns the resource after the write, or undefined when the user canceled it. It throws the
   * server's error, for the form to show beside its members; a write without a form uses attempt.
   */
  async perform<K extends Kind>(write: Write<K>): Promise<Resource<K> | undefined> {
    for (let current = await this.current(write); ; current = await this.current({ ...write, etag: undefined })) {
      const body = this.body(write, current);
      try {
        if (this.asks(write) && !(await this.confirmed(write, current, body))) return undefined;
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
    try {
      return (await this.perform(write)) !== undefined;
    } catch (failure) {
      this.dialogs.failed(write.title, asApiError(failure));
      return false;
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

  private body<K extends Kind>(write: Write<K>, current?: Loaded<K>) {
    if (write.method === "DELETE" || write.action) return undefined;
    return { data: { type: write.kind, id: write.id || undefined, attributes: write.change?.(current?.resource.attributes) ?? {} } };
  }

  private request<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown, dryRun: boolean) {
    const query = { ...write.query, dry_run: dryRun || undefined };
    if (write.action) return send<Single<K> | undefined>("POST", `${pathOf(write.kind, write.id)}/actions/${write.action}`, { query });
    const method = write.method ?? "PUT";
    const path = pathOf(write.kind, method === "POST" ? undefined : write.id);
    return send<Single<K> | undefined>(method, path, { body, ifMatch: current?.etag, query });
  }

  private async confirmed<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown): Promise<boolean> {
    const dry = !write.action && write.kind !== "session"; // actions and sessions have no dry run
    const { document } = dry ? await this.request(write, current, body, true) : { document: undefined };
    return this.dialogs.confirm({
      title: write.title,
      before: current?.resource.attributes,
      after: document?.data.attributes,
      warnings: (document?.meta?.warnings ?? []).map((warning) => warning.detail),
      consequences: write.consequences,
      destructive: write.method === "DELETE" || write.action !== undefined,
      verb: write.verb,
    });
  }

  private async commit<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown): Promise<Resource<K>> {
    const { document, etag } = await this.request(write, current, body, false);
    const after = document?.data ?? current?.resource ?? ({ id: write.id, type: write.kind } as Resource<K>);
    if (document && !write.final) this.queries.setQueryData(keyOf.one(write.kind, after.id), { resource: after, etag });
    void this.queries.invalidateQueries({ queryKey: write.final ? [write.kind] : [write.kind, "list"] }); // a final answer may have a secret
    this.dialogs.succeeded(write.done, write.final ? undefined : this.undo(write.kind, after.id));
    return after;
  }

  // undo remembers the change of the write, and returns a function that reverts it.
  private undo(kind: Kind, id: string): (() => Promise<void>) | undefined {
    const made = newest(kind, id);
    return async () => {
      try {
        const change = await made;
        await send("POST", `/api/v1/changes/${change?.id}/actions/revert`);
        void this.queries.invalidateQueries({ queryKey: [kind] });
        this.dialogs.succeeded("Undone.");
      } catch (failure) {
        this.dialogs.failed("Undo", asApiError(failure));
      }
    };
  }

  private async resolved<K extends Kind>(write: Write<K>, body: ReturnType<Writer["body"]>): Promise<boolean> {
    const [theirs, change] = await Promise.all([load(write.kind, write.id), newest(write.kind, write.id)]);
    return this.dialogs.resolve({
      title: write.title,
      who: change?.attributes.actor.name ?? "Somebody",
      at: change?.attributes.created_at ?? new Date().toISOString(),
      theirs: theirs.resource.attributes,
      mine: { ...theirs.resource.attributes, ...(body?.data.attributes ?? {}) },
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
