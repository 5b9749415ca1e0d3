import {
  withFields,
  isGatewayError,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
} from '../../../plugin/index.js';
import { EventTally } from './event-tally.js';
import { copyOf } from './json-diff.js';
import { TallyPair, type InterceptionRecord, type StageRecord } from './recording.js';
import { requestChanges, requestJson } from './request-changes.js';
import type { ExplainedError } from '../explanation.js';
import { shownText } from '../../dry-run/shown.js';

type Options = Parameters<ModelCall>[1];

interface Given {
  readonly request: MessagesRequest;
  readonly call: ModelCall;
}

/** Run of an interceptor: its calls and its reply. */
export class WatchedInterception {
  /** Errors of its calls. */
  readonly errors = new Set<unknown>();
  readonly #given: Given;
  readonly #run: InterceptionRecord;
  readonly #own: OwnTime;
  readonly #conceals: boolean;
  readonly #request: unknown;
  #last: { readonly reply: ModelReply; readonly tally: EventTally } | undefined;

  constructor(given: Given, run: InterceptionRecord, own: OwnTime, conceals: boolean) {
    this.#given = given;
    this.#run = run;
    this.#own = own;
    this.#conceals = conceals;
    this.#request = copyOf(requestJson(given.request));
  }

  readonly call: ModelCall = async (request, options) => {
    this.#own.stop();
    const call: InterceptionRecord['calls'][number] = {
      request: requestChanges(this.#request, requestJson(request), this.#conceals),
    };
    this.#run.calls.push(call);
    try {
      const reply = await this.#given.call(request, this.#watched(options));
      const tally = new EventTally();
      const tapped = withFields(reply, { events: reply.events.through(tally) });
      this.#last = { reply: tapped, tally };
      return tapped;
    } catch (error) {
      this.errors.add(error);
      call.error = errorOf(error);
      throw error;
    } finally {
      this.#own.start();
    }
  };

  /** The reply, with a tally if it is not that of the last call. */
  replied(reply: ModelReply): ModelReply {
    if (!this.#last || reply.events === this.#last.reply.events) return reply;
    const tally = new EventTally();
    this.#run.events.push(new TallyPair(this.#last.tally, tally));
    return withFields(reply, { events: reply.events.through(tally) });
  }

  /** Options whose transforms have a tally before and after them. */
  #watched(options: Options): Options {
    const own = [options?.through ?? []].flat();
    if (own.length === 0) return options;
    const pair = new TallyPair();
    this.#run.events.push(pair);
    return { ...options, through: [pair.startBefore, ...own, pair.startAfter] };
  }
}

/** Own time of a stage. */
export class OwnTime {
  readonly #record: StageRecord;
  #sinceMs: number | undefined;

  constructor(record: StageRecord) {
    this.#record = record;
  }

  start(): void {
    this.#sinceMs ??= performance.now();
  }

  stop(): void {
    if (this.#sinceMs !== undefined) this.#record.ms += performance.now() - this.#sinceMs;
    this.#sinceMs = undefined;
  }
}

/** Error in the form of a report. */
export function errorOf(error: unknown): ExplainedError {
  if (isGatewayError(error)) return { code: error.code, message: shownText(error.message) };
  return { code: 'internal', message: shownText(error instanceof Error ? error.message : String(error)) };
}
