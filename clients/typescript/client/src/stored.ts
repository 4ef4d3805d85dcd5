// The values of a page's last visit, in a storage such as localStorage.

import { murmur3 } from "./murmur3.js";
import type { Evaluated } from "./ofrep.js";
import { isObject } from "./values.js";

/** The members of localStorage that this module uses. Without the optional ones, entries of earlier versions stay. */
export type PageStorage = Pick<Storage, "getItem" | "setItem"> & Partial<Pick<Storage, "key" | "length" | "removeItem">>;

/** The values for one server, key and environment: those of the last context. */
export class StoredFlags {
  private readonly name: string;

  constructor(
    private readonly storage: PageStorage,
    private readonly url: string,
    key: string,
    environment = "",
  ) {
    this.name = `signalbox:${digest(JSON.stringify([url, key, environment]))}`;
  }

  /** Returns the flags that were stored for a context; undefined if there are none. */
  read(context: object): ReadonlyMap<string, Evaluated> | undefined {
    const stored: unknown = JSON.parse(this.storage.getItem(this.name) ?? "null");
    if (!isObject(stored) || !isObject(stored.flags) || stored.context !== digest(JSON.stringify(context))) {
      return undefined;
    }
    return new Map(Object.entries(stored.flags) as [string, Evaluated][]);
  }

  /** Replaces the flags of the last context. */
  write(context: object, flags: ReadonlyMap<string, Evaluated>): void {
    const stored = { context: digest(JSON.stringify(context)), flags: Object.fromEntries(flags) };
    this.storage.setItem(this.name, JSON.stringify(stored));
  }

  /** Removes the entries of earlier versions, which had one for each context, with the key and the context in its name. */
  removeFormer(): void {
    const { storage } = this;
    const names = Array.from({ length: storage.length ?? 0 }, (_, i) => storage.key?.(i));
    for (const name of names) {
      if (name?.startsWith(`signalbox ${this.url} `)) {
        storage.removeItem?.(name);
      }
    }
  }
}

/** Returns 64 bits that stand for a text, so that names and contexts are not stored as they are. It is no cryptographic hash:
 * browsers only have those as promises. */
function digest(text: string): string {
  return [text, `again ${text}`].map((each) => murmur3(each).toString(16).padStart(8, "0")).join("");
}
