import { GatewayError, toGatewayError, type ModelEvent } from '../../../plugin/index.js';
import { interruptedError } from '../../../plugin/format/index.js';
import { isErrorBody, jsonFields, type SseTranslator } from '../../../plugin/upstream/index.js';
import { BareJson } from './bare-json.js';
import type { BodyReader } from '../body.js';
import { EventParser } from './event-parser.js';
import { WholeEvents } from './whole-events.js';

/** Max size of an event, that of the longest whole answer. */
const maxEventBytes = 32 * 1024 * 1024;

/** Reader of another protocol's server-sent events, in any split of their bytes, for its translator. */
export class TranslatedReader implements BodyReader {
  readonly #translator: SseTranslator;
  readonly #bare = new BareJson();
  readonly #bytes = new WholeEvents();
  readonly #parser = new EventParser({
    onEvent: ({ data, type }) => this.#receive(data, type),
    onUnnamed: (data) => this.#receive(data, undefined),
    onDone: () => this.#receive('[DONE]', undefined),
    maxEventBytes,
    onTooLong: () => this.#refuseLength(),
  });
  #events: ModelEvent[] = [];
  #failure: GatewayError | undefined;
  #isComplete = false;

  constructor(translator: SseTranslator) {
    this.#translator = translator;
  }

  read(bytes: Buffer): readonly ModelEvent[] {
    if (this.#bare.takes(bytes)) return [];
    const whole = this.#bytes.read(bytes);
    if (whole.length > 0) this.#parser.feed(whole);
    if (this.#bytes.heldBytes > maxEventBytes) this.#refuseLength();
    return this.#take();
  }

  release(): void {
    this.#parser.release();
  }

  /** Ends the answer; an event that is not complete is left out. */
  finish(): readonly ModelEvent[] {
    const { text } = this.#bare;
    if (text !== undefined && isErrorBody(jsonFields(text))) this.#receive(text, 'error');
    this.#end();
    return this.#take();
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  get isOver(): boolean {
    return this.#isComplete || this.#failure !== undefined;
  }

  get settlesInMs(): number | undefined {
    return this.#translator.settlesInMs;
  }

  #take(): readonly ModelEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #receive(data: string, name: string | undefined): void {
    if (this.isOver) return;
    try {
      this.#translator.read(data, name, this.#events);
      this.#isComplete = this.#translator.isOver;
    } catch (error) {
      this.#fail(error);
    }
  }

  #end(): void {
    if (this.isOver) return;
    try {
      this.#translator.finish(this.#events);
      this.#isComplete = true;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure = toGatewayError(error ?? interruptedError());
  }

  #refuseLength(): void {
    const message = `The upstream sent an event of more than ${maxEventBytes / 1024 / 1024} MB.`;
    this.#failure ??= new GatewayError('upstream_invalid_response', message, {
      failure: { kind: 'foreign' },
    });
  }
}
