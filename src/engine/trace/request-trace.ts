import {
  type GatewayError,
  type Additions,
  type CallTimer,
  type MessagesRequest,
  type Trace,
  type Usage,
} from '../../plugin/index.js';
import { defaultPipeline, type StagePlace, type TraceCost } from '../../plugin/core.js';
import { timeOrderedId } from '../../kit/time-ordered-id.js';
import { Blame } from './blame.js';
import { RequestUsage, AddedParts } from './request-usage.js';
import { RequestVersions } from './request-versions.js';
import { StageClock, type StageStep } from './stage-clock.js';
import type { TracedCall } from './upstream-call-timer.js';
import { UpstreamCalls } from './upstream-calls.js';
import { withTag } from './usage-tags.js';

/** Trace of one request, with the methods that only the core calls. */
export class RequestTrace implements Trace {
  readonly clock = new StageClock();
  readonly stages = this.clock.stages;
  readonly upstream: UpstreamCalls;
  readonly calls: readonly TracedCall[];
  readonly failedCalls: UpstreamCalls['failed'];
  readonly versions = new RequestVersions();
  readonly added = new AddedParts();
  #costSoFar: (() => TraceCost) | undefined;
  readonly #usage = new RequestUsage();
  #tags: Readonly<Record<string, string>> | undefined;
  askedModel: string | undefined;
  queueMs = 0;
  failure: GatewayError | undefined;
  /** Error that was the whole answer. */
  refusal: GatewayError | undefined;
  readonly #blame = new Blame();
  #pipeline: string = defaultPipeline;
  /** Arrival of the request, unix milliseconds. */
  readonly startedMs: number;
  #rowId: string | undefined;
  #endedBy: StagePlace | undefined;
  #hasLeftOpen = false;

  /** `now`: clock of the gateway, unix milliseconds. `costSoFar`: by the prices of the gateway. */
  constructor(now: () => number, costSoFar?: () => TraceCost, startedMs = now()) {
    this.startedMs = startedMs;
    this.upstream = new UpstreamCalls(now);
    this.calls = this.upstream.list;
    this.failedCalls = this.upstream.failed;
    this.#costSoFar = costSoFar;
  }

  get cost(): TraceCost | undefined {
    return this.#costSoFar?.();
  }

  /** Releases the request, once its cost is known, since its trace may be kept for longer. */
  settle(): void {
    this.#costSoFar = undefined;
  }

  ask(model: string): void {
    this.askedModel = model;
  }

  /** Name of the chosen pipeline; `default` if none was chosen. */
  get pipeline(): string {
    return this.#pipeline;
  }

  /** Sets the pipeline that the request continues in. */
  choose(pipeline: string): void {
    this.#pipeline = pipeline;
  }

  /** Id of the ledger row, which calls of stages name before it is written. */
  get rowId(): string {
    return (this.#rowId ??= timeOrderedId());
  }

  get usage() {
    return this.#usage.tally;
  }

  get tags(): Readonly<Record<string, string>> | undefined {
    return this.#tags;
  }

  /** Attributes the new parts of `state.additions` to the stage that is being timed. */
  addedParts(additions: Additions): void {
    this.added.note(additions, this.clock.current?.place.stage);
  }

  /** Slot of the upstream call that began or failed last. */
  get slot(): string | undefined {
    return this.upstream.slot;
  }

  get firstEventAtMs(): number | undefined {
    return this.upstream.firstEventAtMs;
  }

  get firstTokenAtMs(): number | undefined {
    return this.upstream.firstTokenAtMs;
  }

  get lastEventAtMs(): number | undefined {
    return this.upstream.lastEventAtMs;
  }

  queued(ms: number): void {
    this.queueMs += ms;
  }

  call(slot: string, model?: string, request?: MessagesRequest): CallTimer {
    const by = this.clock.current?.timed;
    return this.#usage.add(this.upstream.begin({ slot, model, request, by }));
  }

  /** Replaces the codes of failed calls by those that may be shown. */
  showCodes(shown: (code: string) => string): void {
    this.upstream.showCodes(shown);
  }

  bill(billed: Usage): void {
    this.#usage.bill(billed);
  }

  /** Bills the calls whose answers were cut off, now that the response has closed. */
  closeBills(hasCallerLeft: boolean): void {
    this.#usage.close(hasCallerLeft, this.added);
  }

  mask(masked: Usage): void {
    this.#usage.mask(masked);
  }

  tag(name: string, value: string): void {
    this.#tags = withTag(this.#tags, name, value);
  }

  fail(error: GatewayError): void {
    this.failure = error;
    this.#blame.ended(error);
  }

  refuse(error: GatewayError): void {
    this.refusal = error;
  }

  /** Adds a stage, and times it from now on instead of the one above it. */
  enter(place: StagePlace): StageStep {
    return this.clock.enter(place);
  }

  /**
   * Ends a stage. The first one to end has ended the request: nothing below it runs, or it has not waited for that.
   */
  leave(step: StageStep): void {
    if (!this.#endedBy) {
      this.#endedBy = step.place;
      this.#hasLeftOpen = this.clock.current !== step;
    }
    this.clock.leave(step);
  }

  /** Ends a stage by its error. */
  leaveFailed(step: StageStep, error: unknown): void {
    this.#blame.thrown(error, () => this.versions.causeOf(error, step.place, this));
    this.clock.leave(step);
  }

  /** Stage that ended the request. */
  get endedBy(): StagePlace | undefined {
    return this.#endedBy;
  }

  /**
   * State of the stages below the one that ended the request. `open`: still running, since it did not wait for its
   * `next`; `failed`: their error was suppressed; undefined: neither.
   */
  get endedAbove(): 'open' | 'failed' | undefined {
    if (this.#hasLeftOpen) return 'open';
    return this.#blame.isPut ? 'failed' : undefined;
  }

  /** Adds a version of the request, of the stage that is being timed unless `by` names another one. */
  sees(request: MessagesRequest, by = this.clock.current?.place): void {
    this.versions.add(request, by);
  }

  /** Adds a stream of the answer, of the stage that is being timed unless `by` names another one. */
  made(events: unknown, by = this.clock.current?.place): void {
    this.#blame.made(events, by);
  }

  /** Blames an error on a stage that did not throw it from its middleware. */
  blame(error: unknown, by: StagePlace | undefined): void {
    this.#blame.put(error, by);
  }

  /** Original of an error that a stage's caller received: that of its stream. */
  reasonFor(error: unknown): unknown {
    return this.#blame.reasonFor(error);
  }

  /** Stage that threw the error first; undefined if no stage did. */
  blamed(error: unknown): StagePlace | undefined {
    return this.#blame.of(error);
  }

  /** Stage that the request waits for, with its own time until now; undefined once the stages have ended. */
  current(): { readonly place: StagePlace; readonly ms: number } | undefined {
    return this.clock.waitingFor();
  }
}
