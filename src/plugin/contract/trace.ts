import type { GatewayError } from './error.js';
import type { ModelEvent } from '../events/events.js';
import type { MessagesRequest, Usage } from './messages.js';
import type { ProgressReceiver } from './slot/slot.js';

/** A stage as log lines name it. */
export interface StagePlace {
  readonly stage: string;
  /** `pipeline[3]`. */
  readonly path: string;
  /** `config/gateway.yaml:14:5`. */
  readonly at: string;
  readonly meter?: StageMeter;
}

/** Metrics of a stage, held from the build of its pipeline on. */
export interface StageMeter {
  /** Adds the stage's own time in one request. */
  time(ms: number): void;
  fault(): void;
  skip(): void;
}

/** Trace of a request: the source of its log line, metrics and ledger row. Changed by its methods alone. */
export interface Trace {
  /** Name of the pipeline that the request continues in; `default` before one is chosen. */
  readonly pipeline: string;
  /** Stages reached, top to bottom. */
  readonly stages: readonly TimedStage[];
  /** Upstream calls, each added as it begins. */
  readonly calls: readonly TimedCall[];
  readonly usage: UsageTally;
  /** Cost of the upstream calls so far; undefined if prices are not known at all. */
  readonly cost: TraceCost | undefined;
  /** Values of the usage tags by name; undefined: none is set. */
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly added: AddedByStages;
  /** Time of the first event of the answer, unix milliseconds. */
  readonly firstEventAtMs: number | undefined;
  /** Time of the first content of the answer, thinking included, unix milliseconds. */
  readonly firstTokenAtMs: number | undefined;
  /** Time of the last event of the answer, unix milliseconds. */
  readonly lastEventAtMs: number | undefined;
  /** Time that the upstream calls have waited for places in slots. */
  readonly queueMs: number;
  /** Error of an answer that broke after it had begun; the outcome is then `failed`. */
  readonly failure: GatewayError | undefined;
  /** Requested model, by catalog id; undefined before it is known. */
  readonly askedModel: string | undefined;
  /** Sets the requested model. */
  ask(model: string): void;
  /**
   * Adds an upstream call, and starts its timer; `model`: catalog id. With its `request` it is billed even if it is cut
   * off before it reports usage.
   */
  call(slot: string, model?: string, request?: MessagesRequest): CallTimer;
  /** Adds time that an upstream call has waited for a place in a slot. */
  queued(ms: number): void;
  /** Sets the tokens billed by the upstream so far. */
  bill(usage: Usage): void;
  /** Sets the part of the billed tokens that is hidden from the caller so far. */
  mask(usage: Usage): void;
  /**
   * Sets a usage tag, by which the ledger can be grouped; an empty value removes it. Throws a RangeError on a
   * ninth tag and on a bad name; a value is cut to 100 characters.
   */
  tag(name: string, value: string): void;
  /** Reports that the answer broke after it had begun. */
  fail(error: GatewayError): void;
}

/** Stage with its own time: before it called `next` and after that returned, without later streaming. */
export interface TimedStage {
  readonly stage: string;
  readonly ms: number;
  /** True if the stage has failed, and the request continued without it. */
  readonly skipped?: true;
}

/** Upstream call: time to its first event or failure (0 until then), and the error code of the failure. */
export interface TimedCall {
  readonly slot: string;
  readonly model?: string;
  readonly ms: number;
  readonly code?: string;
  /** Usage that the upstream has billed for the call so far; absent: none is reported. */
  readonly billed?: Usage;
}

/** Timer of an upstream call; it stops at the first event, the end or the failure, whichever comes first. */
export interface CallTimer extends ProgressReceiver {
  /** Headers of the call that propagate the trace of the request; undefined if it is not propagated. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  firstEvent(): void;
  /** Reports the first content; it is that of the answer if the call is. */
  firstToken(): void;
  /** Reports that the events of an answer have ended. */
  lastEvent(): void;
  /** Reports that the call has answered; its first event is that of the answer, unless an earlier call has one. */
  end(): void;
  fail(error: GatewayError): void;
  /** Measures an event of the answer, for the bill of one that is cut off. */
  received(event: ModelEvent): void;
  /** Sets the usage that the upstream has billed for this call so far; `isFinal`: all of it. */
  bill(usage: Usage, isFinal?: boolean): void;
}

/** Cost of the upstream calls of a request. */
export interface TraceCost {
  /** Nano-USD, of the calls whose cost is known. */
  readonly billed: number;
  /** False if that of some call is unknown. */
  readonly isComplete: boolean;
}

/** Additions of stages to a request. */
export interface AddedByStages {
  /** Estimated input tokens of them in each upstream call, by the stage's name; undefined if unknown. */
  readonly tokens: Readonly<Record<string, number>> | undefined;
  count(tokens: Readonly<Record<string, number>>): void;
  /** Name of the stage that put a part into `state.additions`; undefined if no stage did. */
  stageOf(part: object): string | undefined;
}

/** Tokens of one request so far: as billed by the upstream, and the part of them hidden from the caller. */
export interface UsageTally {
  readonly billed: Usage;
  readonly masked: Usage;
}
