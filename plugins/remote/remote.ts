import {
  GatewayError,
  isGatewayError,
  parseJson,
  type Host,
  type StageContext,
} from '@gw2api/gateway/plugin';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import type { RemotePhase, ReviewOptions } from '@gw2api/gateway/plugin/remote';
import { LRUCache } from 'lru-cache';
import { CircuitBreaker, maxFailures, openMs } from './circuit-breaker.js';
import type { Settings } from './options.js';
import { ServiceClient } from './service-client.js';

export type RemoteContext = StageContext<'request', 'request', 'caller' | 'delivery' | 'body'>;

/** Question of a phase, and the reader of its reply. */
export interface Exchange<Result> {
  readonly phase: RemotePhase;
  /** Id of the run. */
  readonly id: string;
  readonly seq: number;
  readonly body: string;
  readonly path?: string;
  /** Result of a reply, and its verdict. Throws an Error for one that is not valid. */
  read(text: string): { readonly result: Result; readonly verdict: string };
}

/** One remote stage: its service, with a circuit breaker, counted. */
export class Remote {
  readonly settings: Settings;
  readonly host: Host;
  readonly #client: ServiceClient;
  readonly #counter: ReturnType<Host['metrics']['counter']>;
  readonly #memory: { readonly breaker: CircuitBreaker; readonly ids: LRUCache<string, number> };
  readonly #closing = new AbortController();
  /** Questions of audits whose replies are awaited. */
  readonly #beside = new Set<Promise<unknown>>();

  constructor(settings: Settings, host: Host) {
    this.settings = settings;
    this.host = host;
    this.#client = new ServiceClient(settings, host);
    this.#counter = host.metrics.counter(
      'gw2api_remote_calls_total',
      'Questions to remote stages by result.',
      ['stage', 'phase', 'result'],
    );
    this.#memory = host.keep(`service ${settings.url.href}`, () => ({
      breaker: new CircuitBreaker(host.clock, () => reportOpen(host)),
      ids: new LRUCache<string, number>({ max: maxIds, ttl: idTtlMs }),
    }));
  }

  /** Id of a run of a request: that of the request, numbered from the second one on. */
  nextId(requestId: string): string {
    const count = (this.#memory.ids.get(requestId) ?? 0) + 1;
    this.#memory.ids.set(requestId, count);
    return count === 1 ? requestId : `${requestId}:${count}`;
  }

  /** Asks a question. Throws `stage_failed`, and the reason of the signal. */
  async ask<Result>(exchange: Exchange<Result>, until: CallSignal): Promise<Result> {
    const { breaker } = this.#memory;
    const { phase, id, seq, body, path } = exchange;
    if (!breaker.admits()) {
      this.count(phase, 'open');
      throw this.failed(`its service has failed ${maxFailures} times in a row, and is not asked for a while`);
    }
    try {
      const post = { id: `${id}.${phase}.${seq}`, body, ...(path !== undefined && { path }) };
      const { result, verdict } = exchange.read(await this.#client.post(post, until));
      breaker.succeeded();
      this.count(phase, verdict);
      return result;
    } catch (error) {
      if (until.aborted) {
        breaker.abandoned();
        throw until.reason;
      }
      breaker.failed();
      this.count(phase, 'failed');
      throw this.failed(reasonOf(error), error);
    }
  }

  /** Counts the result of a question. */
  count(phase: RemotePhase, result: string): void {
    this.#counter.add({ stage: this.host.name, phase, result });
  }

  /** Options for the review of events. */
  get reviewOptions(): Omit<ReviewOptions, 'passesFailures'> {
    const { chunkChars, chunkAfterMs, holdBytes } = this.settings;
    return { clock: this.host.clock, chunkChars, chunkAfterMs, maxHeldBytes: holdBytes };
  }

  /**
   * Asks beside a request, which may end meanwhile; the stage is closed after the reply. Throws as `ask` does, and
   * asks nothing while too many replies are awaited.
   */
  async beside<Result>(phase: RemotePhase, ask: (until: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.#beside.size >= maxBeside) {
      this.count(phase, 'dropped');
      throw this.failed(`${maxBeside} questions of audits await their reply`);
    }
    const asked = ask(this.#closing.signal);
    this.#beside.add(asked);
    try {
      return await asked;
    } finally {
      this.#beside.delete(asked);
    }
  }

  load(): Promise<void> {
    return this.#client.load();
  }

  probe(): Promise<void> {
    return this.#client.probe(this.#closing.signal);
  }

  /** Waits for the replies to audits, each of which has a time limit. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#beside);
    this.#closing.abort(new Error('The stage is closed.'));
  }

  /** Failure of the stage; `reason` continues a sentence. */
  failed(reason: string, cause?: unknown): GatewayError {
    return new GatewayError('stage_failed', `Stage "${this.host.name}" failed: ${reason}.`, {
      callersMessage: 'A check of this gateway failed. Try again in a moment.',
      ...(cause !== undefined && { cause }),
    });
  }
}

/** Max questions of audits at a time. */
const maxBeside = 1000;

/** Max ids of requests that are remembered: a caller may send one id several times. */
const maxIds = 10_000;
const idTtlMs = 600_000;

function reportOpen({ log, name }: Host): void {
  const message = `The service of stage "${name}" has failed ${maxFailures} times in a row; it is not asked for ${openMs / 1000} s.`;
  log.warn({ stage: name }, message);
}

/** Parses a reply. Throws an Error that says nothing of its text. */
export function replyJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new Error('its reply is not valid JSON', { cause });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'its service could not be asked';
  const message = isGatewayError(error) || error.message !== '' ? error.message : error.name;
  return message.replace(/\.$/, '');
}
