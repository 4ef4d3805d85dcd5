import type { Draft } from "./draft";
import { methods } from "./draft";

/** Call has the request of a curl command, as members of a job. */
export type Call = Pick<Draft, "method" | "url" | "headers" | "body"> & Partial<Pick<Draft, "timeout" | "tls_verify">>;

/** Read is the request of a command, with notes about options that a job cannot have; or the reason why the command cannot be read. */
export type Read = { call: Call; notes: string[] } | { problem: string };

/** readCurl reads a curl command, such as one copied from a browser or from the documentation of an API. */
export function readCurl(command: string): Read {
  try {
    const words = wordsOf(command);
    if (words[0] !== "curl") return { problem: "This is not a curl command: it must begin with curl." };
    return new Reader(words.slice(1)).read();
  } catch (failure) {
    return { problem: (failure as Error).message };
  }
}

const isSpace = (character: string) => /\s/.test(character);

/** wordsOf splits a command as a shell does: quotes, backslashes, and $'…' as browsers write it. */
export function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; ) {
    const rest = command.slice(at);
    const quoted = /^'([^']*)'/.exec(rest) ?? /^"((?:[^"\\]|\\[\s\S])*)"/.exec(rest) ?? /^\$'((?:[^'\\]|\\[\s\S])*)'/.exec(rest);
    if (quoted) {
      word = (word ?? "") + unescaped(quoted[0], quoted[1] as string);
      at += quoted[0].length;
      continue;
    }
    const character = rest[0] as string;
    if (character === "'" || character === '"') throw new Error("A quote in the command has no end.");
    if (/[|;&<>`]/.test(character)) throw new Error(`Only one command can be read, without ${character}.`);
    if (character === "\\") {
      if (!/^\\\r?\n/.test(rest)) word = (word ?? "") + (rest[1] ?? "");
      at += rest[1] === "\r" ? 3 : 2;
    } else if (isSpace(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at++;
    } else {
      word = (word ?? "") + character;
      at++;
    }
  }
  return word === undefined ? words : [...words, word];
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

function unescaped(quoted: string, inner: string): string {
  if (quoted.startsWith("'")) return inner;
  if (quoted.startsWith('"')) return inner.replace(/\\(["\\$`]|\r?\n)/g, (_, escaped) => (/^\r?\n$/.test(escaped) ? "" : escaped));
  return inner.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])/g, (_, code: string) =>
    /^[ux]./.test(code) ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );
}

type Meaning =
  | "method"
  | "url"
  | "header"
  | "data"
  | "raw"
  | "json"
  | "encoded"
  | "user"
  | "agent"
  | "cookie"
  | "referer"
  | "time"
  | "ignored";

const valued: Record<string, Meaning> = {
  "-X": "method",
  "--request": "method",
  "--url": "url",
  "-H": "header",
  "--header": "header",
  "-d": "data",
  "--data": "data",
  "--data-ascii": "data",
  "--data-binary": "data",
  "--data-raw": "raw",
  "--data-urlencode": "encoded",
  "--json": "json",
  "-u": "user",
  "--user": "user",
  "-A": "agent",
  "--user-agent": "agent",
  "-b": "cookie",
  "--cookie": "cookie",
  "-e": "referer",
  "--referer": "referer",
  "-m": "time",
  "--max-time": "time",
  "-o": "ignored",
  "--output": "ignored",
  "-w": "ignored",
  "--write-out": "ignored",
  "--connect-timeout": "ignored",
};

const plain = new Set(
  "-s -S -f -v -i -g -L -# --silent --show-error --fail --fail-with-body --verbose --include --globoff --location --compressed --http1.1 --http2 --progress-bar --no-progress-meter".split(
    " ",
  ),
);

class Reader {
  private method?: string;
  private url?: string;
  private readonly headers: Draft["headers"] = [];
  private readonly data: string[] = [];
  private readonly notes: string[] = [];
  private user?: string;
  private timeout?: number;
  private isGet = false;
  private isInsecure = false;

  constructor(private readonly words: string[]) {}

  read(): Read {
    while (this.words.length > 0) this.word(this.words.shift() as string);
    if (!this.url) return { problem: "The command has no URL." };
    if (this.user !== undefined) this.add("Authorization", `Basic ${basic(this.user)}`);
    if (this.data.length > 0 && !this.isGet) this.add("Content-Type", "application/x-www-form-urlencoded");
    const method = (this.method ?? (this.data.length > 0 && !this.isGet ? "POST" : "GET")) as Draft["method"];
    if (!methods.includes(method)) return { problem: `A job cannot send ${method}: it sends ${methods.join(", ")}.` };
    const call: Call = { method, url: this.address(), headers: this.headers, body: this.isGet ? "" : this.data.join("&") };
    if (this.timeout !== undefined) call.timeout = this.timeout;
    if (this.isInsecure) call.tls_verify = false;
    return { call, notes: this.notes };
  }

  private address(): string {
    const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(this.url as string) ? (this.url as string) : `http://${this.url}`;
    if (!this.isGet || this.data.length === 0) return url;
    return `${url}${url.includes("?") ? "&" : "?"}${this.data.join("&")}`;
  }

  private word(word: string): void {
    if (!word.startsWith("-") || word === "-") this.setURL(word);
    else if (word.startsWith("--")) {
      const [name, joined] = /^(--[^=]+)=([\s\S]*)$/.exec(word)?.slice(1) ?? [word];
      this.option(name as string, joined);
    } else this.short(word);
  }

  // short reads a word of short options: switches, and perhaps a last one with its value attached.
  private short(word: string): void {
    for (let at = 1; at < word.length; at++) {
      const name = `-${word[at]}`;
      const rest = word.slice(at + 1);
      this.option(name, valued[name] && rest !== "" ? rest : undefined);
      if (valued[name]) break;
    }
  }

  private option(name: string, joined?: string): void {
    if (name === "-k" || name === "--insecure") this.isInsecure = true;
    else if (name === "-G" || name === "--get") this.isGet = true;
    else if (name === "-I" || name === "--head") this.method = "HEAD";
    else if (name === "-L" || name === "--location") this.notes.push("Redirects are not followed: use the target address.");
    else if (!plain.has(name)) this.value(name, joined);
  }

  private value(name: string, joined?: string): void {
    const meaning = valued[name];
    if (!meaning) throw new Error(`The option ${name} is not known here.`);
    const value = joined ?? this.words.shift();
    if (value === undefined) throw new Error(`The option ${name} has no value.`);
    this.apply(meaning, name, value);
  }

  private apply(meaning: Meaning, name: string, value: string): void {
    const setters: Record<Meaning, () => void> = {
      method: () => {
        this.method = value.toUpperCase();
      },
      url: () => this.setURL(value),
      header: () => this.header(value),
      data: () => this.body("data", value),
      raw: () => this.body("raw", value),
      json: () => this.body("json", value),
      encoded: () => this.data.push(encoded(value)),
      user: () => this.setUser(name, value),
      agent: () => this.add("User-Agent", value),
      cookie: () => this.setCookie(value),
      referer: () => this.add("Referer", value),
      time: () => this.setTimeout(name, value),
      ignored: () => {},
    };
    setters[meaning]();
  }

  private setUser(name: string, user: string): void {
    if (!user.includes(":")) throw new Error(`${name} has no password, which curl would ask for.`);
    this.user = user;
  }

  private setCookie(cookie: string): void {
    if (!cookie.includes("=")) throw new Error("Cookies of a file cannot be read here.");
    this.add("Cookie", cookie);
  }

  private setTimeout(name: string, seconds: string): void {
    if (!(Number(seconds) > 0)) throw new Error(`${name} has no number of seconds.`);
    this.timeout = Math.max(1, Math.ceil(Number(seconds)));
  }

  private body(meaning: "data" | "raw" | "json", value: string): void {
    if (meaning !== "raw" && value.startsWith("@")) throw new Error("The body is in a file: paste its text as --data-raw.");
    this.data.push(value);
    if (meaning !== "json") return;
    this.add("Content-Type", "application/json");
    this.add("Accept", "application/json");
  }

  private setURL(url: string): void {
    if (this.url) throw new Error("The command calls several URLs: a job sends one request.");
    this.url = url;
  }

  private header(line: string): void {
    const [, name = "", value = ""] = /^\s*([^:]+?)\s*:\s*([\s\S]*?)\s*$/.exec(line) ?? [];
    if (name === "") throw new Error(`The header ${JSON.stringify(line.slice(0, 40))} has no name and value.`);
    if (/^(content-length|host|connection|accept-encoding)$/i.test(name))
      this.notes.push(`The header ${name} is left out: a run sets it itself.`);
    else if (value !== "") this.add(name, value);
  }

  // add keeps a header that the command has already: options are defaults beside -H.
  private add(name: string, value: string): void {
    if (!this.headers.some((header) => header.name.toLowerCase() === name.toLowerCase())) this.headers.push({ name, value });
  }
}

const basic = (user: string) => btoa(String.fromCharCode(...new TextEncoder().encode(user)));

// encoded reads "name=content", "=content" and "content" as curl does.
function encoded(value: string): string {
  const at = value.indexOf("=");
  if (value.includes("@") && (at < 0 || value.indexOf("@") < at)) throw new Error("A part of the body is in a file.");
  return at < 0 ? encodeURIComponent(value) : `${at === 0 ? "" : `${value.slice(0, at)}=`}${encodeURIComponent(value.slice(at + 1))}`;
}
