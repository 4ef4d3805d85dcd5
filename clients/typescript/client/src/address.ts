// The address of the server, and connections to it: with TLS, and through a proxy that the environment names.

import net from "node:net";
import tls, { type SecureContextOptions } from "node:tls";
import { SettingsError } from "./errors.js";

type Connected = (error: Error | null, socket?: net.Socket) => void;

const MAX_PROXY_ANSWER = 16_384;

export class Address {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The prefix of every request's path; empty for most servers. */
  readonly path: string;
  /** The host header. */
  readonly authority: string;

  /** Throws a SettingsError. */
  constructor(
    url: string,
    private readonly options: SecureContextOptions = {},
  ) {
    let parts: URL;
    try {
      parts = new URL(url);
    } catch {
      throw new SettingsError(`"${url}" is not the URL of a server, such as http://127.0.0.1:8080`);
    }
    if ((parts.protocol !== "http:" && parts.protocol !== "https:") || !parts.hostname) {
      throw new SettingsError(`"${url}" is not the URL of a server, such as http://127.0.0.1:8080`);
    }
    this.secure = parts.protocol === "https:";
    this.host = parts.hostname.replace(/^\[|\]$/g, "");
    this.port = Number(parts.port) || (this.secure ? 443 : 80);
    this.path = parts.pathname.replace(/\/+$/, "");
    this.authority = parts.host;
  }

  /** Opens a connection, through a tunnel if the environment names a proxy. The socket does not keep the process alive. */
  connect(timeout: number, done: Connected): void {
    const proxy = proxyOf(this);
    if (proxy) {
      this.tunnel(proxy, timeout, done);
    } else {
      const socket = net.connect({ host: this.host, port: this.port, noDelay: true });
      finish(this.secure ? this.secured(socket) : socket, timeout, this.secure ? "secureConnect" : "connect", done);
    }
  }

  private secured(socket: net.Socket): tls.TLSSocket {
    const servername = net.isIP(this.host) ? "" : this.host;
    socket.unref();
    return tls.connect({ ...this.options, socket, servername, host: this.host, ALPNProtocols: ["http/1.1"] });
  }

  private tunnel(proxy: URL, timeout: number, done: Connected): void {
    const socket = net.connect({ host: proxy.hostname, port: Number(proxy.port) || 80, noDelay: true });
    const target = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`;
    const user = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const authorization = user === ":" ? "" : `Proxy-Authorization: Basic ${Buffer.from(user).toString("base64")}\r\n`;
    finish(socket, timeout, "connect", (error) => {
      if (error) {
        done(error);
        return;
      }
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
      readProxyAnswer(socket, timeout, (refused) => {
        if (refused || !this.secure) {
          done(refused, refused ? undefined : socket);
        } else {
          finish(this.secured(socket), timeout, "secureConnect", done);
        }
      });
    });
  }
}

/** Calls done once, when a socket is connected, has failed, or has taken too long. */
function finish(socket: net.Socket, timeout: number, event: string, done: Connected): void {
  socket.unref();
  const failed = (error: Error) => {
    stop();
    socket.on("error", () => undefined); // a second error of the same socket
    socket.destroy();
    done(error);
  };
  const late = () => failed(new Error(`no connection within ${timeout} ms`));
  const ended = () => failed(new Error("the connection ended"));
  const connected = () => {
    stop();
    done(null, socket);
  };
  const stop = () => {
    socket.setTimeout(0);
    socket.off("timeout", late).off("error", failed).off("close", ended).off(event, connected);
  };
  socket.setTimeout(timeout);
  socket.on("timeout", late).on("error", failed).on("close", ended).on(event, connected);
}

/** Reads the answer of a proxy. It leaves the bytes after it, which are the server's, in the socket. */
function readProxyAnswer(socket: net.Socket, timeout: number, done: (error: Error | null) => void): void {
  let answer = "";
  const end = (error: Error | null) => {
    socket.setTimeout(0);
    socket.off("readable", read).off("timeout", ended).off("close", ended).off("error", end);
    if (error) {
      socket.on("error", () => undefined);
      socket.destroy();
    }
    done(error);
  };
  const ended = () => end(new Error("the proxy ended the connection, or does not answer"));
  const read = () => {
    for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
      answer += byte.toString("latin1");
      if (answer.endsWith("\r\n\r\n")) {
        const accepted = /^HTTP\/1\.[01] 200/.test(answer);
        end(accepted ? null : new Error(`the proxy refuses a tunnel: ${answer.split("\r\n", 1)[0]}`));
        return;
      }
      if (answer.length > MAX_PROXY_ANSWER) {
        end(new Error("the proxy's answer is too long"));
        return;
      }
    }
  };
  socket.setTimeout(timeout);
  socket.on("readable", read).on("timeout", ended).on("close", ended).on("error", end);
}

/** Returns the proxy that HTTPS_PROXY or HTTP_PROXY names, unless NO_PROXY has the server. */
function proxyOf({ secure, host, port }: Address): URL | undefined {
  const { env } = process;
  const found = secure ? (env.https_proxy ?? env.HTTPS_PROXY) : (env.http_proxy ?? env.HTTP_PROXY);
  if (!found || isExcluded(host, port, env.no_proxy ?? env.NO_PROXY ?? "")) {
    return undefined;
  }
  try {
    return new URL(found.includes("://") ? found : `http://${found}`);
  } catch {
    return undefined;
  }
}

function isExcluded(host: string, port: number, excluded: string): boolean {
  return excluded
    .split(",")
    .map((each) => each.trim().toLowerCase())
    .filter(Boolean)
    .some((each) => {
      const [name = "", onPort] = each.split(":");
      const domain = name.replace(/^\*?\./, "");
      const matches = each === "*" || host === each || host === domain || host.endsWith(`.${domain}`);
      return matches && (!onPort || each === host || Number(onPort) === port);
    });
}
