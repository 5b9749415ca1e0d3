import {
  maskedPart,
  addUsage,
  estimateTokens,
  type Usage,
  type Additions,
  type Trace,
} from '../../plugin/index.js';
import type { AddedByStages } from '../../plugin/core.js';
import type { UpstreamCallTimer } from './upstream-call-timer.js';

/** Usage of one request, with the calls whose bills are open until its response closes. */
export class RequestUsage {
  #tally: Trace['usage'] = { billed: {}, masked: {} };
  #open: UpstreamCallTimer[] = [];

  get tally(): Trace['usage'] {
    return this.#tally;
  }

  add(call: UpstreamCallTimer): UpstreamCallTimer {
    this.#open.push(call);
    return call;
  }

  bill(billed: Usage): void {
    this.#tally = { ...this.#tally, billed };
  }

  mask(masked: Usage): void {
    this.#tally = { ...this.#tally, masked };
  }

  /** Bills the calls whose answers were cut off; hides the additions of one that has not reached its mask. */
  close(hasCallerLeft: boolean, added: AddedParts): void {
    const missing = this.#open
      .map((call) => call.close(hasCallerLeft))
      .filter((usage) => usage !== undefined);
    this.#open = [];
    if (missing.length === 0) return;
    const billed = missing.reduce(addUsage, this.#tally.billed);
    const isMasked = added.tokens !== undefined;
    const masked = isMasked ? this.#tally.masked : maskedPart(billed, added.estimate() * missing.length);
    this.#tally = { billed, masked };
  }
}

/** Parts of a request that stages have added, and their tokens. */
export class AddedParts implements AddedByStages {
  #tokens: Readonly<Record<string, number>> | undefined;
  #parts: readonly object[] = [];
  #stages: Map<object, string> | undefined;

  get tokens(): Readonly<Record<string, number>> | undefined {
    return this.#tokens;
  }

  count(tokens: Readonly<Record<string, number>>): void {
    this.#tokens = tokens;
  }

  /** Attributes the parts not yet attributed to the stage. */
  note({ system, tools }: Additions, stage: string | undefined): void {
    this.#parts = [...system, ...tools];
    if (stage === undefined) return;
    const stages = (this.#stages ??= new Map<object, string>());
    for (const part of system) if (!stages.has(part)) stages.set(part, stage);
    for (const part of tools) if (!stages.has(part)) stages.set(part, stage);
  }

  /** Estimated tokens of all parts. */
  estimate(): number {
    return this.#parts.length === 0 ? 0 : estimateTokens(this.#parts);
  }

  stageOf(part: object): string | undefined {
    return this.#stages?.get(part);
  }
}
