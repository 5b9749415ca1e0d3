import {
  type MessagesRequest,
  type Usage,
  type CallProgress,
  type GatewayError,
  estimateTokens,
  type ModelEvent,
} from '../../plugin/index.js';
import { OutputMeter } from '../../plugin/core.js';

/** Bill of one upstream call, estimated if the answer is cut off before it reports usage. */
export class CallBill {
  readonly #request: MessagesRequest;
  readonly #output = new OutputMeter();
  #progress: CallProgress | undefined;
  #hasBegun = false;
  #isFinal = false;
  #usage: Usage | undefined;
  #failure: GatewayError | undefined;

  constructor(request: MessagesRequest) {
    this.#request = request;
  }

  reach(progress: CallProgress): void {
    this.#progress = progress;
  }

  receive(event: ModelEvent): void {
    this.#hasBegun ||= event.type !== 'ping' && event.type !== 'error';
    this.#output.add(event);
  }

  bill(usage: Usage, isFinal: boolean): void {
    this.#usage = usage;
    this.#isFinal ||= isFinal;
  }

  fail(error: GatewayError): void {
    this.#failure = error;
  }

  /** True for a call without cost, as its request was not sent. */
  get isUnsent(): boolean {
    return this.#progress === undefined && !this.#hasBegun;
  }

  /** Usage that an estimate adds to the reported one; undefined for a call that was not cut. */
  missing(hasCallerLeft: boolean): Usage | undefined {
    if (!this.#isCut(hasCallerLeft)) return undefined;
    const reported = this.#usage ?? {};
    const input = inputOf(reported) > 0 ? 0 : estimateTokens(this.#request);
    const output = Math.max(0, this.#outputTokens() - (reported.output_tokens ?? 0));
    return { input_tokens: input, output_tokens: output, estimated: true };
  }

  #isCut(hasCallerLeft: boolean): boolean {
    if (this.#isFinal || this.#progress === 'refused') return false;
    if (this.#hasBegun) return true;
    if (this.#failure) return this.#progress === 'accepted' && isInterruption(this.#failure);
    return this.#progress === 'accepted' || (this.#progress === 'sent' && hasCallerLeft);
  }

  /** A third of the bytes, and 64 tokens possibly in flight; at most the request's limit. */
  #outputTokens(): number {
    const tokens = Math.ceil(this.#output.bytes / bytesPerToken) + underWay;
    const { max_tokens: max } = this.#request;
    return typeof max === 'number' ? Math.min(tokens, max) : tokens;
  }
}

const bytesPerToken = 3;
const underWay = 64;

function inputOf({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
}: Usage): number {
  return (input ?? 0) + (read ?? 0) + (written ?? 0);
}

/** False for an answer that was an error, foreign, or silent until a timeout. */
function isInterruption({ failure }: GatewayError): boolean {
  return failure?.kind === 'interrupted';
}
