import type { GatewayError, ModelEvent, ModelEvents } from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { relay, type StreamWriter } from '../relay.js';
import { sseDone, sseEvent } from '../sse.js';
import { ResponseAnswer, type ResponsesRequest } from './answer.js';
import { responsesParts } from './parts.js';

/** The events of a streamed response. */
export function responsesStream(events: ModelEvents, request: ResponsesRequest): AsyncGenerator<string> {
  return relay(events, new ResponseStream(request));
}

class ResponseStream implements StreamWriter {
  readonly #request: ResponsesRequest;
  readonly #answer: ResponseAnswer;
  readonly #reader: AnswersReader<ResponseAnswer>;
  #sequence = 0;
  #text = '';

  constructor(request: ResponsesRequest) {
    this.#request = request;
    this.#answer = new ResponseAnswer(request, (type, fields) => this.#emit(type, fields));
    this.#reader = new AnswersReader(1, responsesParts, () => this.#answer);
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  add(event: ModelEvent): void {
    this.#reader.add(event);
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** The response is stored first: the caller may name it as soon as it hears of it. */
  async finish(): Promise<string> {
    await this.#request.keep(this.#answer.finished(true));
    const response = this.#answer.finished();
    this.#emit(`response.${String(response['status'])}`, { response });
    return this.take() + sseDone;
  }

  fail(error: GatewayError): string {
    this.#answer.fail(error);
    return this.take();
  }

  #emit(type: string, fields: object): void {
    this.#text += sseEvent(type, JSON.stringify({ type, sequence_number: this.#sequence, ...fields }));
    this.#sequence += 1;
  }
}
