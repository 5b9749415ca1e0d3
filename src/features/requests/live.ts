import type { Readable } from 'node:stream';
import { GatewayError, sseBody, type Logger } from '../../plugin/index.js';
import { sseEvent } from '../../plugin/format/index.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { Sessions } from '../../operator/access/sessions.js';
import type { Names } from '../../operator/names.js';
import { requestReport } from '../../operator/request-report.js';
import type { OperatorContext } from '../../operator/route.js';
import type { RequestFeed } from './request-feed.js';

interface LiveParts {
  readonly feed: RequestFeed;
  readonly log: Logger;
  /** Aborts when the gateway begins to close. */
  readonly closing: AbortSignal;
  readonly sessions: Pick<Sessions, 'onEnded'>;
  readonly names: Names;
  /** Default: 15 s. */
  readonly checkEveryMs?: number;
}

/** Options of a subscription to the live requests. */
interface LiveOptions {
  readonly ctx: OperatorContext;
  readonly filter: (row: LedgerRow) => boolean;
  /** Session check, repeated at an interval; the stream ends once it gives false. */
  readonly isAllowed: () => Promise<boolean>;
}

/** Readers of the live stream of finished requests. */
export class LiveReaders {
  readonly #parts: LiveParts;
  readonly #tails = new Set<Tail>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
    parts.sessions.onEnded(() => {
      for (const tail of this.#tails) tail.review();
    });
    parts.closing.addEventListener('abort', () => {
      for (const tail of this.#tails) tail.end('the gateway is shutting down');
    });
  }

  /**
   * Opens the event stream of a reader. Throws `rate_limited` if there are too many readers, and
   * `shutting_down`.
   */
  open({ ctx, filter, isAllowed }: LiveOptions): Readable {
    const { feed, closing, log, checkEveryMs = keepAliveMs } = this.#parts;
    if (closing.aborted) throw new GatewayError('shutting_down', 'This gateway is shutting down.');
    if (this.#tails.size >= maxReaders)
      throw new GatewayError(
        'rate_limited',
        `${maxReaders} readers are already connected; close one of them.`,
        {
          headers: { 'retry-after': '5' },
        },
      );
    const tail = new Tail(() => this.#review(tail, isAllowed));
    this.#tails.add(tail);
    const unsubscribe = feed.subscribe((row) => {
      if (filter(row)) tail.add(row);
    });
    const watch = setInterval(tail.review, checkEveryMs).unref();
    ctx.res.once('close', () => {
      this.#tails.delete(tail);
      clearInterval(watch);
      unsubscribe();
      tail.end();
    });
    return sseBody(this.#events(tail), {
      keepAlive: ': keep-alive\n\n',
      keepAliveMs,
      onFailure: (error) => log.warn({ err: error }, 'The stream of live requests failed.'),
    });
  }

  #review(tail: Tail, isAllowed: LiveOptions['isAllowed']): void {
    isAllowed().then(
      (is) => is || tail.end('your session is over'),
      (error: unknown) =>
        this.#parts.log.debug(
          { err: error },
          'A session could not be looked up; its event stream stays open.',
        ),
    );
  }

  async *#events(tail: Tail): AsyncGenerator<string> {
    yield ': live\n\n';
    for await (const row of tail.rows()) {
      const nameOf = await this.#parts.names.ofKeys();
      yield sseEvent('request', JSON.stringify(requestReport(row, nameOf)));
    }
    yield `: ${tail.reason}\n\n`;
  }
}

const maxReaders = 100;
const keepAliveMs = 15_000;

/** Max rows in the queue of a slow reader; above it the reader is disconnected. */
const maxWaiting = 1000;

/** Queue of the rows that a reader has not received yet. */
class Tail {
  readonly #rows: LedgerRow[] = [];
  /** Checks the session of the reader, and ends the stream if it is over. */
  readonly review: () => void;
  #wake: () => void = () => undefined;
  #reason: string | undefined;

  constructor(review: () => void) {
    this.review = review;
  }

  get reason(): string {
    return this.#reason ?? '';
  }

  add(row: LedgerRow): void {
    if (this.#reason !== undefined) return;
    this.#rows.push(row);
    if (this.#rows.length > maxWaiting) {
      this.#rows.length = 0;
      this.end('you read too slowly; connect again');
    }
    this.#wake();
  }

  end(reason = ''): void {
    this.#reason ??= reason;
    this.#wake();
  }

  async *rows(): AsyncGenerator<LedgerRow> {
    for (;;) {
      const row = this.#rows.shift();
      if (row) yield row;
      else if (this.#reason !== undefined) return;
      else await new Promise<void>((resolve) => void (this.#wake = resolve));
    }
  }
}
