import type { ApiError } from "../api/client";
import { visible } from "../visible/visible";

/** Message is a short note about what was just done. */
export interface Message {
  text: string;
  /** title marks a failure. */
  title?: string;
  undo?: () => Promise<void>;
  /** said has the sentences of the change, which arrive after the message. */
  said?: Promise<string[]>;
  /** ms is how long the message stays. */
  ms?: number;
}

/**
 * Messages has the message on the screen. A new message replaces the previous one: only the last write can be undone, and
 * a pile of messages would cover the page.
 */
export class Messages {
  private current: Message | undefined;
  private readonly listeners = new Set<() => void>();

  show = (message: Message | undefined) => {
    this.current = message && { ...message, text: visible(message.text), title: message.title && visible(message.title) };
    for (const listener of this.listeners) listener();
  };

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = () => this.current;
}

/** messages holds the message of the page. */
export const messages = new Messages();

/** say shows a message. */
export const say = (text: string, more: Omit<Message, "text"> = {}) => messages.show({ text, ...more });

/** sayFailure shows that an action failed, with the request id that the server's log has too. */
export const sayFailure = (title: string, { message, requestId, code }: ApiError) =>
  say(`${message}${requestId ? ` (request ${requestId})` : ""}`, { title: `${title}: ${code === "unknown" ? "no answer" : "failed"}` });
