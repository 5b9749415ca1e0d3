import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ModelEvent, type MessagesStreamEvent } from '@gw2api/gateway/plugin';
import { MessageFold } from '@gw2api/gateway/plugin/upstream';
import type { RecordedRequest } from '../recorded-request.js';
import { compressorOf, frame, frameData, type Framing } from './framing.js';
import { errorTypes, Refusal } from '../refusal.js';
import type { Step } from '../scenarios/stream-scenarios.js';

type Headers = Readonly<Record<string, string>>;

/** Max characters of events gathered for one write. */
const writeSize = 16_384;

/** Plays the steps as server-sent events. */
export async function deliverStream(
  exchange: RecordedRequest,
  steps: Iterable<Step>,
  framing: Framing,
  headers: Headers,
): Promise<void> {
  const writer = new EventWriter(exchange, framing, headers);
  for (const step of steps) {
    if (exchange.ending) return;
    if (step.do === 'send') writer.add(step.event);
    else if (step.do === 'garble')
      writer.addText(frameData('{"type": oh no', 'content_block_delta', framing));
    else {
      await writer.flush();
      if (step.do === 'pause') await pause(exchange, step.ms);
      else if (step.do === 'stall') await exchange.closed;
      else if (step.do === 'cut') return cut(exchange);
      else return writer.end();
    }
    if (writer.isFull) await writer.flush();
  }
  if (framing.isDone) writer.addText(`data: [DONE]${framing.eol}${framing.eol}`);
  await writer.flush();
  writer.end();
}

/** Plays the steps and answers with the resulting message; faults apply to the JSON body. */
export async function deliverWhole(
  exchange: RecordedRequest,
  steps: Iterable<Step>,
  headers: Headers,
): Promise<void> {
  const fold = new MessageFold();
  for (const step of steps) {
    if (step.do === 'send') addOrRefuse(fold, step.event);
    else if (step.do === 'pause') await pause(exchange, step.ms);
    else return breakBody(exchange, step.do, headers);
  }
  exchange.answerWith(200, 'application/json', JSON.stringify(fold.partial()), headers);
}

function addOrRefuse(fold: MessageFold, event: MessagesStreamEvent): void {
  if (event.type !== 'error') return fold.add(ModelEvent.of(event));
  const status = Object.entries(errorTypes).find(([, type]) => type === event.error.type)?.[0];
  throw new Refusal(Number(status ?? 500), event.error.message);
}

async function breakBody(
  exchange: RecordedRequest,
  how: 'garble' | 'stall' | 'cut' | 'end',
  headers: Headers,
): Promise<void> {
  const response = exchange.begin(200, { ...headers, 'content-type': 'application/json' });
  response.write('{"id":"msg_');
  if (how === 'stall') await exchange.closed;
  else if (how === 'cut') await cut(exchange);
  else response.end();
}

/** Destroys the socket once the written bytes have had time to arrive. */
async function cut(exchange: RecordedRequest): Promise<void> {
  await exchange.sleep(10);
  exchange.cut();
}

function pause(exchange: RecordedRequest, ms: number): Promise<void> {
  return ms > 0 ? exchange.sleep(ms) : nextTurn();
}

/** Gathers events and writes them, no faster than the caller reads. */
class EventWriter {
  readonly #exchange: RecordedRequest;
  readonly #framing: Framing;
  readonly #sink: ServerResponse | Transform;
  #pending: string;
  #count = 0;

  constructor(exchange: RecordedRequest, framing: Framing, headers: Headers) {
    const response = exchange.begin(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...(framing.encoding ? { 'content-encoding': framing.encoding } : {}),
    });
    const compressor = compressorOf(framing);
    compressor?.pipe(response);
    this.#exchange = exchange;
    this.#framing = framing;
    this.#sink = compressor ?? response;
    this.#pending = framing.hasBom ? '\ufeff' : '';
  }

  get isFull(): boolean {
    return this.#pending.length >= writeSize;
  }

  add(event: MessagesStreamEvent): void {
    this.#pending += frame(event, this.#count, this.#framing);
    this.#count += 1;
  }

  addText(text: string): void {
    this.#pending += text;
  }

  /** Resolves when there is room for more; at once if the caller has disconnected. */
  async flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text === '' || this.#exchange.ending) return;
    if (this.#framing.isBytewise) await this.#writeBytes(Buffer.from(text));
    else await this.#write(Buffer.from(text));
    this.#exchange.eventsWritten = this.#count;
  }

  end(): void {
    this.#sink.end();
  }

  async #writeBytes(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#exchange.ending; at += 1) {
      await this.#write(bytes.subarray(at, at + 1));
      await nextTurn();
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#exchange.bytesWritten += bytes.length;
    if (this.#sink.write(bytes)) return;
    this.#exchange.block(true);
    await Promise.race([once(this.#sink, 'drain'), this.#exchange.closed]);
    this.#exchange.block(false);
  }
}
