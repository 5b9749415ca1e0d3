import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { PlaygroundCall, RunPlayground } from './playground-run.js';
import { sendWithin } from '../../engine/http/connection/inner-client.js';
import { every } from '../../kit/time/clock.js';
import { GatewayError, type Clock, type Format } from '../../plugin/index.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { PlaygroundEvents } from './playground-events.js';

/** Runs requests of the playground: over a connection within the process, by a pass for the key. */
export function openPlayground(gateway: Gateway): Opened<RunPlayground> {
  const rows = new AwaitedRows(gateway.services.clock);
  return { api: playgroundOf(gateway, rows), watch: { settled: ({ row }) => row && rows.settled(row) } };
}

function playgroundOf(gateway: Gateway, rows: AwaitedRows): RunPlayground {
  return async (call, peer, signal) => {
    refuseOtherPaths(call.path, gateway.runtime.formats);
    const headers = sentHeaders(call);
    const body = Buffer.from(typeof call.body === 'string' ? call.body : JSON.stringify(call.body));
    const pass = await gateway.services.keys.pass(call.as);
    const requestId = `play_${randomUUID()}`;
    const events = new PlaygroundEvents(requestId);
    const own = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-api-key': pass.text,
      'x-request-id': requestId,
    };
    const row = rows.of(requestId);
    const sent = sendWithin(
      { method: 'POST', path: call.path, headers: { ...headers, ...own }, body },
      { accept: (socket) => gateway.listeners.accept(socket), peer },
    );
    const look = (): void => events.look(gateway.exchanges.find(requestId));
    const stop = every(gateway.services.clock, lookEveryMs, look);
    const leave = (): void => void sent.destroy();
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    sent.once('response', (response: IncomingMessage) => {
      look();
      events.read(response);
    });
    sent.once('close', () => {
      stop();
      pass.end();
      signal.removeEventListener('abort', leave);
      void row().then((found) => events.end(found));
    });
    return events.list();
  };
}

const lookEveryMs = 100;
/** Time after the end of an answer within which its row arrives, if it has one. */
const rowWithinMs = 1000;

/** Ledger rows of running requests, by their request ids. */
class AwaitedRows {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (row: LedgerRow) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  settled(row: LedgerRow): void {
    this.#waiting.get(row.requestId)?.(row);
  }

  /** Returns the wait for the row of a request that has ended. */
  of(requestId: string): () => Promise<LedgerRow | undefined> {
    const came = new Promise<LedgerRow>((resolve) => void this.#waiting.set(requestId, resolve));
    return async () => {
      const late = new Promise<undefined>((resolve) => {
        this.#clock.setTimer(() => resolve(undefined), rowWithinMs);
      });
      const row = await Promise.race([came, late]);
      this.#waiting.delete(requestId);
      return row;
    };
  }
}

/** Refuses paths other than model calls, the only ones that a pass may open. */
function refuseOtherPaths(path: string, formats: readonly Format[]): void {
  const [asked = ''] = path.split('?');
  const paths = formats
    .flatMap(({ routes }) => routes)
    .filter(({ method, operation }) => method === 'POST' && operations.has(operation))
    .flatMap((route) => [route.path.replace('{/v1}', '/v1'), route.path.replace('{/v1}', '')]);
  if (paths.some((each) => isAt(asked, each))) return;
  throw new GatewayError('invalid_request', `post: must be a path of a model call: ${paths.join(', ')}`);
}

const operations: ReadonlySet<string> = new Set(['generate', 'count-tokens']);

function isAt(asked: string, route: string): boolean {
  const [parts, wanted] = [asked.split('/'), route.split('/')];
  return (
    parts.length === wanted.length &&
    wanted.every((part, at) => part === parts[at] || (part.startsWith(':') && parts[at] !== ''))
  );
}

/** Headers of the operator. Throws on those that name a caller, or belong to the connection. */
function sentHeaders({ headers }: PlaygroundCall): Readonly<Record<string, string>> {
  const refused = Object.keys(headers).find((name) => ownHeaders.test(name));
  if (refused === undefined) return headers;
  throw new GatewayError('invalid_request', `headers: ${JSON.stringify(refused)} is set by the playground`);
}

const ownHeaders =
  /^(?:authorization|x-api-key|x-goog-api-key|api-key|cookie|host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-.*|forwarded|x-forwarded-.*|x-real-ip|proxy-.*|x-request-id|traceparent|tracestate)$/i;
