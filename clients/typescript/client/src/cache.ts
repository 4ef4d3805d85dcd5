// The last known values on disk, so that a service can start while the server is away.

import { createHash, randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readDocument, type Snapshot } from "./contents.js";

/** Returns the user's cache folder for Signalbox; undefined if there is none. */
export function defaultFolder(): string | undefined {
  const { HOME: home, LOCALAPPDATA: local, XDG_CACHE_HOME: xdg } = process.env;
  let base: string | undefined;
  if (process.platform === "win32") {
    base = local;
  } else if (process.platform === "darwin") {
    base = home && join(home, "Library", "Caches");
  } else {
    base = xdg || (home && join(home, ".cache"));
  }
  return base ? join(base, "signalbox-typescript") : undefined;
}

/** Returns the file for one account and environment: a key belongs to one account. */
export function cacheFile(folder: string, url: string, key: string, environment: string): string {
  const hash = createHash("sha256").update(`${url}\n${key}\n${environment}`).digest("hex");
  return join(folder, `${hash.slice(0, 24)}.json`);
}

/** Replaces a file as a whole: a reader finds the old or the new snapshot. */
export async function writeSnapshot(path: string, document: unknown): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.signalbox-${randomUUID()}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(document));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Returns the snapshot in a file, and when it was written. It throws an error if there is none. */
export function readSnapshot(path: string): { snapshot: Snapshot; at: Date } {
  const text = readFileSync(path, "utf8");
  return { snapshot: readDocument(JSON.parse(text)), at: statSync(path).mtime };
}
