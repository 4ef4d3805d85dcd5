/**
 * Signalbox's provider for @openfeature/web-sdk. The server evaluates flags, for the context of the page:
 *
 *     const box = startBrowser({ url: "https://signalbox.example.com", key: "sk_api_…" });
 *     await OpenFeature.setContext({ targetingKey: "alice" });
 *     await OpenFeature.setProviderAndWait(new SignalboxWebProvider(box));
 */

import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  ProviderNotReadyError,
  type ResolutionDetails,
} from "@openfeature/web-sdk";
import type { BrowserBox, BrowserDetail } from "./browser.js";
import type { Stop } from "./listeners.js";
import type { State } from "./state.js";

/** Reads the flags of a box. The caller owns the box: closing the provider does not close it. */
export class SignalboxWebProvider implements Provider {
  readonly metadata = { name: "Signalbox" };
  readonly runsOn = "client";
  readonly events = new OpenFeatureEventEmitter();
  private stops: Stop[] = [];

  constructor(private readonly box: BrowserBox) {}

  /** Waits for the values of the context. If the server does not answer, the last known values do, if there are any; the
   * provider is then stale or has an error. */
  async initialize(context: EvaluationContext = {}): Promise<void> {
    await this.answered(context);
    this.follow();
    const { state } = this.box;
    if (!this.box.hasValues) {
      throw new (state.status === "REFUSED" ? ProviderFatalError : ProviderNotReadyError)(String(state));
    }
    if (state.status !== "LIVE") {
      // The SDK sets the status to ready when this method returns.
      const timer = setTimeout(() => this.stateChanged(this.box.state), 0);
      this.stops.push(() => clearTimeout(timer));
    }
  }

  /** Waits until the server has answered for a context, or has failed and the last known values must do. */
  private async answered(context: EvaluationContext): Promise<void> {
    let stop: Stop = () => undefined;
    const failed = new Promise<void>((resolve) => {
      stop = this.box.onState(() => (this.box.hasValues ? resolve() : undefined));
    });
    await Promise.race([this.box.setContext(context).catch(() => undefined), failed]);
    stop();
  }

  /** Starts the events. They go on if the start has failed, because the box keeps trying. */
  private follow(): void {
    if (this.stops.length === 0) {
      const changed = (flagsChanged: string[]) => this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged });
      this.stops = [this.box.onState((state) => this.stateChanged(state)), this.box.onChange(changed)];
    }
  }

  async onContextChange(_before: EvaluationContext, after: EvaluationContext): Promise<void> {
    await this.box.setContext(after);
  }

  /** Ends the events. The box stays open. */
  async onClose(): Promise<void> {
    for (const stop of this.stops) {
      stop();
    }
    this.stops = [];
  }

  private stateChanged(state: State): void {
    const message = String(state);
    if (state.status === "LIVE") {
      this.events.emit(ProviderEvents.Ready, { message });
    } else if (state.status === "REFUSED") {
      this.events.emit(ProviderEvents.Error, { message, errorCode: ErrorCode.GENERAL });
    } else if (state.status === "STALE") {
      this.events.emit(ProviderEvents.Stale, { message });
    }
  }

  resolveBooleanEvaluation(key: string, fallback: boolean): ResolutionDetails<boolean> {
    return resolved(this.box.boolean(key, fallback).detail());
  }

  resolveStringEvaluation(key: string, fallback: string): ResolutionDetails<string> {
    return resolved(this.box.string(key, fallback).detail());
  }

  resolveNumberEvaluation(key: string, fallback: number): ResolutionDetails<number> {
    return resolved(this.box.number(key, fallback).detail());
  }

  resolveObjectEvaluation<T extends JsonValue>(key: string, fallback: T): ResolutionDetails<T> {
    return resolved(this.box.json(key, fallback).detail());
  }
}

function resolved<T>({ value, reason, variant, code }: BrowserDetail<T>): ResolutionDetails<T> {
  return code ? { value, reason: "ERROR", errorCode: errorCodeOf(code) } : { value, reason, variant };
}

function errorCodeOf(code: string): ErrorCode {
  return Object.values(ErrorCode).find((each) => each === code) ?? ErrorCode.GENERAL;
}
