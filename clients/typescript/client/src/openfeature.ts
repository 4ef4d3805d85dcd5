/**
 * Signalbox's provider for @openfeature/server-sdk. Flags are evaluated in the process:
 *
 *     await OpenFeature.setProviderAndWait(new SignalboxProvider(box));
 *
 * The targeting key is the key of the user. An object in the evaluation context is a context whose type is the member's name;
 * other members are attributes of the user. Contexts of `withContext` apply too. Evaluating a flag declares it, once for each key
 * and type: the default may differ each time.
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
} from "@openfeature/server-sdk";
import type { Box } from "./box.js";
import { contextsOf } from "./evaluation-context.js";
import type { Detail } from "./flags.js";
import type { Stop } from "./listeners.js";
import type { Code } from "./plan.js";
import type { State } from "./state.js";

/** Evaluates the flags of a box. The caller owns the box: closing the provider does not close it. */
export class SignalboxProvider implements Provider {
  readonly metadata = { name: "Signalbox" };
  readonly runsOn = "server";
  readonly events = new OpenFeatureEventEmitter();
  private stops: Stop[] = [];

  constructor(
    private readonly box: Box,
    /** How long the start waits for the server, in milliseconds. */
    private readonly readyTimeout = 10_000,
  ) {}

  /** Waits until the box has the values of the server. If the server cannot be reached or refuses the key, the last known
   * values do, if there are any; the provider is then stale or has an error. */
  async initialize(): Promise<void> {
    await this.answered();
    this.follow();
    const { state } = this.box;
    if (state.status !== "LIVE" && state.seq === 0) {
      throw new (state.status === "REFUSED" ? ProviderFatalError : ProviderNotReadyError)(String(state));
    }
    if (state.status !== "LIVE") {
      // The SDK sets the status to ready when this method returns.
      const timer = setTimeout(() => this.stateChanged(this.box.state), 0);
      this.stops.push(() => clearTimeout(timer));
    }
  }

  /** Waits until the server has answered, or has failed and the last known values must do. */
  private answered(): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const check = () => {
        const { status, seq } = this.box.state;
        if (status === "LIVE" || status === "REFUSED" || (status === "STALE" && (seq > 0 || this.box.isClosed))) {
          finish();
        }
      };
      const timer = setTimeout(finish, this.readyTimeout);
      const stop = this.box.onState(check);
      check();
    });
  }

  /** Starts the events. They go on if the start has failed, because the box keeps trying. */
  private follow(): void {
    if (this.stops.length === 0) {
      const changed = (flagsChanged: string[]) => this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged });
      this.stops = [this.box.onState((state) => this.stateChanged(state)), this.box.onFlagChange(changed)];
    }
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
    } else {
      this.events.emit(ProviderEvents.Stale, { message });
    }
  }

  async resolveBooleanEvaluation(key: string, fallback: boolean, context: EvaluationContext): Promise<ResolutionDetails<boolean>> {
    return this.resolved(this.box.boolean(key, fallback).detail(contextsOf(context)));
  }

  async resolveStringEvaluation(key: string, fallback: string, context: EvaluationContext): Promise<ResolutionDetails<string>> {
    return this.resolved(this.box.string(key, fallback).detail(contextsOf(context)));
  }

  async resolveNumberEvaluation(key: string, fallback: number, context: EvaluationContext): Promise<ResolutionDetails<number>> {
    return this.resolved(this.box.number(key, fallback).detail(contextsOf(context)));
  }

  async resolveObjectEvaluation<T extends JsonValue>(key: string, fallback: T, context: EvaluationContext): Promise<ResolutionDetails<T>> {
    return this.resolved(this.box.json(key, fallback).detail(contextsOf(context)));
  }

  private resolved<T>({ value, reason, variant, code }: Detail<T>): ResolutionDetails<T> {
    const flagMetadata = { flagSetId: this.box.environment };
    if (!code) {
      return { value, reason, variant, flagMetadata };
    }
    return { value, reason: "ERROR", flagMetadata, ...this.error(code) };
  }

  private error(code: Exclude<Code, "">): { errorCode: ErrorCode; errorMessage: string } {
    const { state } = this.box;
    if (code === "FLAG_NOT_FOUND" && state.seq === 0 && state.status !== "LIVE") {
      return { errorCode: ErrorCode.PROVIDER_NOT_READY, errorMessage: `nothing is known yet: ${state}` };
    }
    return { errorCode: ErrorCode[code], errorMessage: MESSAGES[code] };
  }
}

const MESSAGES: Readonly<Record<Exclude<Code, "">, string>> = {
  FLAG_NOT_FOUND: "there is no such flag",
  PARSE_ERROR: "the flag has no usable default",
  TYPE_MISMATCH: "the flag has another type",
};
