import type { GatewayError, ModelEvent, ModelEvents } from '@gw2api/gateway/plugin';
import { sseEvent } from '@gw2api/gateway/plugin/format';
import { type BinaryString, toBinaryString } from '@gw2api/gateway/plugin/raw';
import { ResponseAnswer, type ResponsesRequest } from './answer.js';
import type { EventSink } from './item.js';
import { readerOf } from './compaction/compaction-answer.js';
import { type EventReader, relay, type StreamWriter } from '../shared/answer/relay.js';
import { sseDone } from '../shared/answer/sse.js';

/** The events of a streamed response. */
export function responsesStream(events: ModelEvents, request: ResponsesRequest): AsyncIterable<Buffer> {
  return relay(events, new ResponseStream(request));
}

/** Writer of a streamed response. */
export class ResponseStream implements StreamWriter, EventSink {
  readonly #request: ResponsesRequest;
  readonly #answer: ResponseAnswer;
  readonly #reader: EventReader;
  #sequence = 0;
  /** Output since the last `take`, as a binary string. */
  #text = '';

  constructor(request: ResponsesRequest) {
    this.#request = request;
    this.#answer = new ResponseAnswer(request, this);
    this.#reader = readerOf(this.#answer);
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  add(event: ModelEvent): void {
    this.#reader.add(event);
  }

  take(): Buffer {
    const text = this.#text;
    this.#text = '';
    return Buffer.from(text, 'latin1');
  }

  /** Stores the response before its final event, after which the caller may refer to it at once. */
  async finish(): Promise<void> {
    await this.#request.keep(this.#answer.finished(true));
    const response = this.#answer.finished();
    this.emit(`response.${String(response['status'])}`, { response });
    this.#text += sseDone;
  }

  fail(error: GatewayError): void {
    this.#answer.fail(error);
  }

  /** Event that reports that the answer is in progress, once it has begun. */
  inProgress(): Buffer {
    if (!this.isComplete) this.#answer.goOn();
    return this.take();
  }

  emit(type: string, fields: object): void {
    this.emitJson(type, jsonOf(fields));
  }

  emitEach(types: readonly string[], fields: object): void {
    const json = jsonOf(fields);
    for (const type of types) this.emitJson(type, json);
  }

  emitJson(type: string, fields: BinaryString): void {
    const more = fields === '' ? '' : `,${fields}`;
    this.#text += sseEvent(type, `{"type":"${type}","sequence_number":${this.#sequence}${more}}`);
    this.#sequence += 1;
  }
}

/** JSON of fields, without braces. */
function jsonOf(fields: object): BinaryString {
  return toBinaryString(JSON.stringify(fields).slice(1, -1));
}
