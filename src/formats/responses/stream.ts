import {
  type ByteText,
  type GatewayError,
  type ModelEvent,
  type ModelEvents,
  toByteText,
} from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { relay, type StreamWriter } from '../relay.js';
import { sseDone, sseEvent } from '../sse.js';
import type { EventSink } from './item.js';
import { ResponseAnswer, type ResponsesRequest } from './answer.js';
import { responsesParts } from './parts.js';

/** The events of a streamed response. */
export function responsesStream(events: ModelEvents, request: ResponsesRequest): AsyncIterable<Buffer> {
  return relay(events, new ResponseStream(request));
}

class ResponseStream implements StreamWriter, EventSink {
  readonly #request: ResponsesRequest;
  readonly #answer: ResponseAnswer;
  readonly #reader: AnswersReader<ResponseAnswer>;
  #sequence = 0;
  /** Of bytes. */
  #text = '';

  constructor(request: ResponsesRequest) {
    this.#request = request;
    this.#answer = new ResponseAnswer(request, this);
    this.#reader = new AnswersReader(1, responsesParts, () => this.#answer);
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

  emit(type: string, fields: object): void {
    this.emitJson(type, toByteText(JSON.stringify(fields).slice(1, -1)));
  }

  emitJson(type: string, fields: ByteText): void {
    const more = fields === '' ? '' : `,${fields}`;
    this.#text += sseEvent(type, `{"type":"${type}","sequence_number":${this.#sequence}${more}}`);
    this.#sequence += 1;
  }
}
