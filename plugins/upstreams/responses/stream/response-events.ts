import { GatewayError, ModelEvent, type StopReason, type Usage } from '@gw2api/gateway/plugin';
import {
  interruptedError,
  isErrorBody,
  isTooDeep,
  jsonFields,
  keepArguments,
  type SseTranslator,
} from '@gw2api/gateway/plugin/upstream';
import { Blocks } from '../../shared/answer/blocks.js';
import { estimate } from '../../shared/answer/counts.js';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';
import { finishKind } from '../../shared/answer/finish-words.js';
import { malformed, streamError } from '../../shared/openai/openai-stream-error.js';
import { nativeEnd, nativeStart } from '../../shared/answer/native-answer.js';
import { ItemWriter, type AnswerTerms, type OpenItem } from './item-writer.js';
import { usageOf } from './response-usage.js';

interface ResponseTerms extends AnswerTerms {
  /** Size of the request, from which its tokens are estimated until, or unless, the server counts them. */
  readonly requestBytes: number;
}

/**
 * Translator of one Responses answer into the events of a Messages stream. Items are written one after the other;
 * events of an item wait until the current one has ended.
 */
export class ResponseEvents implements SseTranslator {
  readonly settlesInMs = undefined;
  isOver = false;
  readonly #model: string;
  readonly #requestBytes: number;
  readonly #blocks = new Blocks();
  readonly #writer: ItemWriter;
  #hasStarted = false;
  #current: OpenItem | undefined;
  #waiting: Fields[] = [];
  #waitingLength = 0;

  constructor(terms: ResponseTerms) {
    this.#model = terms.model;
    this.#requestBytes = terms.requestBytes;
    this.#writer = new ItemWriter(this.#blocks, terms);
  }

  /** Adds a server-sent event. Throws the failure of the response, and an error for anything but JSON. */
  read(data: string, name: string | undefined, events: ModelEvent[]): void {
    this.#blocks.events = events;
    const event = fieldsOf(name === 'error' ? parsedError(data) : parse(data));
    keepCalls(event, data);
    this.#handle(textOf(event['type']) || (name ?? ''), event, data.length);
  }

  /** Adds a whole answer that was not streamed. */
  readWhole(response: Fields, events: ModelEvent[], json: string): void {
    this.#blocks.events = events;
    keepCalls({ response }, json);
    if (isErrorBody(response)) throw streamError(response['error'] ?? response);
    this.#start(response);
    this.#end(response);
  }

  /** Throws for an answer without its last event, the only sign of its end. */
  finish(): void {
    if (!this.isOver) throw interruptedError();
  }

  #handle(type: string, event: Fields, length: number): void {
    if (type in Object.prototype) throw notAnEvent(type);
    const lifecycle = lifecycles[type];
    if (lifecycle) return lifecycle(this, event);
    const write = itemEvents[type];
    if (!write) return;
    const item = fieldsOf(event['item']);
    const index = event['output_index'] ?? event['item_id'] ?? item['id'];
    if (this.#current && this.#current.index !== index) return this.#hold({ ...event, type }, length);
    this.#start({});
    this.#current ??= this.#writer.begin(index, item);
    write(this.#writer, this.#current, event);
    if (type === 'response.output_item.done') this.#endItem();
  }

  #hold(event: Fields, length: number): void {
    this.#waitingLength += length;
    if (this.#waitingLength > maxWaitingLength) throw malformed('too many items at once');
    this.#waiting.push(event);
  }

  #endItem(): void {
    this.#current = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingLength = 0;
    for (const event of waiting) this.#handle(textOf(event['type']), event, JSON.stringify(event).length);
  }

  #start({ id, model }: Fields): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const identity = { id: textOf(id), model: textOf(model) || this.#model };
    this.#blocks.events.push(nativeStart({ ...identity, requestBytes: this.#requestBytes }));
  }

  /** Ends the answer, with the items that only the response itself contains. */
  #end(response: Fields): void {
    this.#start(response);
    this.#endItems(listOf(response['output']).map(fieldsOf));
    this.#blocks.end();
    const { refused } = this.#writer;
    const details = { type: 'refusal', category: null, explanation: refused };
    const delta = {
      stop_reason: this.#stopReason(response),
      stop_sequence: null,
      ...(refused !== '' && { stop_details: details }),
    };
    const usage = usageOf(response['usage']) ?? this.#estimatedUsage();
    this.#blocks.events.push(nativeEnd(delta, usage), ModelEvent.of({ type: 'message_stop' }));
    this.isOver = true;
  }

  /** Ends the items that no event has ended, and writes those of `output` that no event has contained. */
  #endItems(output: readonly Fields[]): void {
    while (this.#current) {
      const { index, item } = this.#current;
      const whole = output.find(({ id }, at) => at === index || (id !== undefined && id === item['id']));
      if (whole && (item['type'] ?? whole['type']) === whole['type']) this.#writer.end(this.#current, whole);
      else this.#writer.leave(this.#current);
      this.#endItem();
    }
    const missing = output.filter((item) => !this.#writer.hasWritten(item));
    for (const item of missing) this.#writer.end(this.#writer.begin(undefined, item), item);
  }

  /** Usage of a server that does not count: unknown, not zero. */
  #estimatedUsage(): Usage {
    return {
      input_tokens: estimate(this.#requestBytes),
      output_tokens: estimate(this.#blocks.length),
      estimated: true,
    };
  }

  /** Throws for a reason or a status of a failed server. */
  #stopReason({ status, incomplete_details }: Fields): StopReason {
    const { reason } = fieldsOf(incomplete_details);
    const kind = finishKind(reason) ?? finishKind(status);
    if (kind === 'failed')
      throw streamError({ message: `Its answer ended with "${textOf(reason ?? status)}".` });
    if (this.#writer.refused !== '' || kind === 'refused') return 'refusal';
    if (this.#writer.isCut || kind === 'cut' || status === 'incomplete') return 'max_tokens';
    return this.#writer.hasCalls ? 'tool_use' : 'end_turn';
  }

  static readonly lifecycles: Readonly<Record<string, (events: ResponseEvents, event: Fields) => void>> = {
    'response.created': (events, event) => events.#start(fieldsOf(event['response'])),
    'response.completed': (events, event) => events.#end(fieldsOf(event['response'])),
    'response.incomplete': (events, event) =>
      events.#end({ ...fieldsOf(event['response']), status: 'incomplete' }),
    'response.failed': (_, event) => {
      throw streamError(fieldsOf(event['response'])['error']);
    },
    error: (_, event) => {
      throw streamError(event['error'] ?? event);
    },
  };
}

const { lifecycles } = ResponseEvents;

/** Max length of the events that wait for the item before theirs. */
const maxWaitingLength = 16 * 1024 * 1024;

type ItemEvent = (writer: ItemWriter, open: OpenItem, event: Fields) => void;

/** Events of an item, without those that only repeat others. */
const itemEvents: Readonly<Record<string, ItemEvent | undefined>> = {
  'response.output_item.added': () => undefined,
  'response.output_text.delta': (writer, open, { delta, logprobs }) =>
    writer.text(open, textOf(delta), listOf(logprobs)),
  'response.output_text.annotation.added': (writer, open, { annotation }) => writer.cite(open, annotation),
  'response.refusal.delta': (writer, open, { delta }) => writer.refusal(open, textOf(delta)),
  'response.reasoning_summary_part.added': (writer, open) => {
    if (open.hasText) writer.thinking(open, '\n\n');
  },
  'response.reasoning_summary_text.delta': (writer, open, { delta }) => writer.thinking(open, textOf(delta)),
  'response.reasoning_text.delta': (writer, open, { delta }) => writer.thinking(open, textOf(delta)),
  'response.function_call_arguments.delta': (writer, open, { delta }) => writer.json(open, textOf(delta)),
  'response.function_call_arguments.done': (writer, open, { arguments: json }) =>
    writer.wholeJson(open, textOf(json)),
  'response.output_item.done': (writer, open, { item }) => writer.end(open, fieldsOf(item)),
};

/** An error event, which some servers send as a plain text. */
function parsedError(data: string): unknown {
  const fields = jsonFields(data);
  return Object.keys(fields).length > 0 ? fields : { error: data };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw malformed('an event that is not JSON', error);
  }
}

/** Keeps the numbers in the arguments of calls that some servers send as objects. */
function keepCalls({ item, response }: Fields, json: string): void {
  if (item === undefined && response === undefined) return;
  const calls = [item, ...listOf(fieldsOf(response)['output'])].filter(
    (call) => typeof fieldsOf(call)['arguments'] === 'object',
  );
  if (calls.length === 0) return;
  if (isTooDeep(calls, json)) throw malformed('tool call arguments that are nested too deeply');
  keepArguments(calls, json);
}

/** Error for a name that JavaScript objects inherit: no service sends it. */
function notAnEvent(type: string): GatewayError {
  return new GatewayError('upstream_invalid_response', `The upstream sent an event named "${type}".`, {
    failure: { kind: 'foreign' },
  });
}
