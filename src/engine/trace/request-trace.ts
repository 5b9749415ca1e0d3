import {
  isGatewayError,
  type GatewayError,
  type Additions,
  type CallTimer,
  type MessagesRequest,
  type Trace,
  type Usage,
} from '../../plugin/index.js';
import type { StagePlace, TraceCost } from '../../plugin/core.js';
import { CallBill } from './call-bill.js';
import { FailedCalls } from './failed-calls.js';
import { MadeStreams, type Thrown } from './made-streams.js';
import { RequestUsage } from './request-usage.js';
import { RequestVersions } from './request-versions.js';
import { AddedParts } from './added-parts.js';
import { TracedStage, type StageStep } from './traced-stage.js';
import { UpstreamCallTimer } from './upstream-call-timer.js';
import type { CallIdSource, CallReport, TracedCall } from './upstream-call-timer.js';
import { withTag } from './usage-tags.js';
import type { Writable } from '../../kit/writable.js';

/** Trace of one request, with what only the core reports to it. */
export class RequestTrace implements Trace {
  readonly stages: TracedStage[] = [];
  readonly calls: TracedCall[] = [];
  readonly failedCalls = new FailedCalls();
  readonly versions = new RequestVersions();
  /** Ids of upstream calls, where the request is part of a trace that is exported or handed on. */
  callIds: CallIdSource | undefined;
  readonly added = new AddedParts();
  readonly #now: () => number;
  #costSoFar: (() => TraceCost) | undefined;
  readonly #usage = new RequestUsage();
  #tags: Readonly<Record<string, string>> | undefined;
  #askedModel: string | undefined;
  #slot: string | undefined;
  #firstEventAtMs: number | undefined;
  #firstTokenAtMs: number | undefined;
  #lastEventAtMs: number | undefined;
  #queueMs = 0;
  #failure: GatewayError | undefined;
  #refusal: GatewayError | undefined;
  #thrown: Thrown | undefined;
  readonly #streams = new MadeStreams();
  #endedBy: StagePlace | undefined;
  #hasLeftOpen = false;
  /** Stage that is being timed, since `#sinceMs`. */
  #current: StageStep | undefined;
  #sinceMs = 0;
  /** Stage whose interceptor is at work, and its start. */
  #wrapping: { readonly place: StagePlace; readonly sinceMs: number } | undefined;

  /** `now`: clock of the gateway, unix milliseconds. `costSoFar`: by the prices of the gateway. */
  constructor(now: () => number, costSoFar?: () => TraceCost) {
    this.#now = now;
    this.#costSoFar = costSoFar;
  }

  get cost(): TraceCost | undefined {
    return this.#costSoFar?.();
  }

  /** Lets go of the request, whose cost is known by now: its trace may be held for longer. */
  settle(): void {
    this.#costSoFar = undefined;
  }

  get askedModel(): string | undefined {
    return this.#askedModel;
  }

  ask(model: string): void {
    this.#askedModel = model;
  }

  get usage() {
    return this.#usage.tally;
  }

  get tags(): Readonly<Record<string, string>> | undefined {
    return this.#tags;
  }

  /** Notes the new parts of `state.additions` as those of the stage that is being timed. */
  addedParts(additions: Additions): void {
    this.added.note(additions, this.#current?.place.stage);
  }

  /** Slot of the upstream call that began or failed last. */
  get slot(): string | undefined {
    return this.#slot;
  }

  get firstEventAtMs(): number | undefined {
    return this.#firstEventAtMs;
  }

  get firstTokenAtMs(): number | undefined {
    return this.#firstTokenAtMs;
  }

  get lastEventAtMs(): number | undefined {
    return this.#lastEventAtMs;
  }

  get queueMs(): number {
    return this.#queueMs;
  }

  queued(ms: number): void {
    this.#queueMs += ms;
  }

  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  /** Error that was the whole answer. */
  get refusal(): GatewayError | undefined {
    return this.#refusal;
  }

  call(slot: string, model?: string, request?: MessagesRequest): CallTimer {
    const timed: Writable<TracedCall> = { slot, ms: 0, beganMs: performance.now(), by: this.#current?.timed };
    if (model !== undefined) timed.model = model;
    this.calls.push(timed);
    this.#slot = slot;
    const ids = this.callIds?.next();
    if (ids) timed.spanId = ids.spanId;
    const [report, bill] = [this.#reportOf(timed), request && new CallBill(request)];
    return this.#usage.add(new UpstreamCallTimer(timed, this.#now, { report, bill, headers: ids?.headers }));
  }

  /** Replaces the codes of failed calls by those that may be shown. */
  showCodes(shown: (code: string) => string): void {
    const failed = this.calls as Writable<TracedCall>[];
    for (const call of failed) if (call.code !== undefined) call.code = shown(call.code);
  }

  #reportOf(call: TracedCall): CallReport {
    return {
      answered: (firstEventAtMs, firstTokenAtMs) => {
        this.#firstEventAtMs ??= firstEventAtMs;
        this.#firstTokenAtMs ??= firstTokenAtMs;
      },
      ended: (atMs) => (this.#lastEventAtMs = atMs),
      failed: (error) => {
        this.#slot = call.slot;
        this.failedCalls.add(call, error);
      },
    };
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
    this.#failure = error;
    if (!this.#isThrown(error))
      this.#thrown = this.#streams.brokenBy(error.code === 'internal' ? error.cause : error);
  }

  refuse(error: GatewayError): void {
    this.#refusal = error;
  }

  /** Adds a stage, and times it from now on in place of the one above it. */
  enter(place: StagePlace): StageStep {
    const timed = new TracedStage(place);
    this.stages.push(timed);
    const step = { place, timed, above: this.#current };
    this.#turnTo(step);
    timed.beganMs = this.#sinceMs;
    return step;
  }

  /** Ends a stage. The first one to end has ended the request: nothing below it runs, or it did not wait for that. */
  leave(step: StageStep): void {
    const { place, timed, above } = step;
    if (!this.#endedBy) {
      this.#endedBy = place;
      this.#hasLeftOpen = this.#current !== step;
    }
    this.#turnTo(above);
    timed.endedMs = this.#sinceMs;
    place.meter?.time(timed.ms);
  }

  /** Ends a stage by its error. */
  leaveFailed({ place, timed, above }: StageStep, error: unknown): void {
    if (!this.#isThrown(error))
      this.#thrown = this.#streams.brokenBy(error) ?? {
        error,
        by: this.versions.causeOf(error, place, this),
      };
    this.#turnTo(above);
    timed.endedMs = this.#sinceMs;
    place.meter?.time(timed.ms);
  }

  /** Stage that ended the request. */
  get endedBy(): StagePlace | undefined {
    return this.#endedBy;
  }

  /**
   * State of the stages below the one that ended the request: `open`, they are still at work, for it
   * did not wait for its `next`; `failed`: their error has not come through; undefined: neither.
   */
  get endedAbove(): 'open' | 'failed' | undefined {
    if (this.#hasLeftOpen) return 'open';
    return this.#thrown && 'failed';
  }

  /** Sets the stage whose interceptor the request waits for; undefined while a call of the model is under way. */
  wrap(place: StagePlace | undefined): void {
    this.#wrapping = place && { place, sinceMs: performance.now() };
  }

  /** Moves time of the stage that waits for the call of the model to a stage that wraps it. */
  moveTime({ path }: StagePlace, ms: number): void {
    const wrapping = this.stages.findLast((timed) => timed.isAt(path));
    if (!wrapping || !this.#current) return;
    wrapping.ms += ms;
    this.#current.timed.ms -= ms;
  }

  /** Adds a version of the request, of the stage that is being timed unless `by` says another one. */
  sees(request: MessagesRequest, by = this.#current?.place): void {
    this.versions.add(request, by);
  }

  /** Adds a stream of the answer, of the stage that is being timed unless `by` says another one. */
  made(events: unknown, by = this.#current?.place): void {
    this.#streams.add(events, by);
  }

  /** Blames an error on a stage that did not throw it from its middleware. */
  blame(error: unknown, by: StagePlace | undefined): void {
    this.#thrown = { error, by };
  }

  /** Error behind one that the caller of a stage was given: that of the stream which it came from. */
  reasonFor(error: unknown): unknown {
    return (this.#isThrown(error) ? this.#thrown?.reason : undefined) ?? error;
  }

  /** Stage that threw the error first; undefined if no stage did. */
  blamed(error: unknown): StagePlace | undefined {
    return this.#isThrown(error) ? this.#thrown?.by : undefined;
  }

  /** True for the error that was thrown first, also in the GatewayError that it has become. */
  #isThrown(error: unknown): boolean {
    if (!this.#thrown) return false;
    if (this.#thrown.error === error) return true;
    return isGatewayError(error) && error.code === 'internal' && error.cause === this.#thrown.error;
  }

  /** Marks a stage as skipped; the time of those below it is theirs. */
  skip({ path }: StagePlace): void {
    const timed = this.stages.findLast((stage) => stage.isAt(path));
    if (timed) timed.skipped = true;
  }

  /** Stage that the request waits for, with its own time until now; undefined once the stages have ended. */
  current(): { readonly place: StagePlace; readonly ms: number } | undefined {
    if (!this.#current) return undefined;
    if (this.#wrapping)
      return { place: this.#wrapping.place, ms: performance.now() - this.#wrapping.sinceMs };
    this.#turnTo(this.#current);
    const { place, timed } = this.#current;
    return { place, ms: timed.ms };
  }

  /** Adds the time since the last turn to the stage that had it, then times the next one. */
  #turnTo(next: StageStep | undefined): void {
    const nowMs = performance.now();
    if (this.#current) this.#current.timed.ms += nowMs - this.#sinceMs;
    this.#current = next;
    this.#sinceMs = nowMs;
  }
}
