import type { AddedParts } from './added-parts.js';
import { type Usage, maskedPart, addUsage } from '../../plugin/index.js';
import type { UsageTally } from '../../plugin/core.js';
import type { UpstreamCallTimer } from './upstream-call-timer.js';

/** Usage of one request, with the calls whose bills are open until its response closes. */
export class RequestUsage {
  #tally: UsageTally = { billed: {}, masked: {} };
  #open: UpstreamCallTimer[] = [];

  get tally(): UsageTally {
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

  /** Bills the calls whose answers were cut off; of one that has not come to its mask, the additions are hidden. */
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
