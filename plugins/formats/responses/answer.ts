import type { BlockOf, GatewayError, StopReason, Usage } from '@gw2api/gateway/plugin';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import { withWait } from './codex.js';
import { settings, responsesError } from './envelope.js';
import { type Item, type EventSink, type OpenItem, itemId, type ItemKind } from './item.js';
import { MessageItem } from './message-item.js';
import type { AnswerWriter, Ending } from '../shared/answer/answer.js';
import { CallIds } from '../shared/tools/call-ids.js';
import { jsonBytes } from '../shared/answer/sse.js';
import type { CallerTools } from '../shared/tools/tools.js';
import { responsesUsage } from '../shared/answer/reported-usage.js';

/** Request fields that shape the answer. */
export interface ResponsesRequest {
  /** `resp_…` */
  readonly id: string;
  /** The caller's body, whose settings the response object repeats. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Optional parts of items that the caller requested. */
  readonly include: ReadonlySet<string>;
  readonly tools: CallerTools;
  /** Ids of the calls in the input. */
  readonly calledIds?: readonly string[];
  /** Answered by one compaction item. */
  readonly isCompaction?: boolean;
  /** True for one of `codexClients`. */
  readonly isCodex?: boolean;
  /** Unix milliseconds. */
  now(): number;
  /** Stores the finished response, its reasoning included, before the caller receives the final event. */
  keep(response: ResponseObject): Promise<void>;
}

export type ResponseObject = Readonly<Record<string, unknown>>;

/** Ends a web search; undefined if the answer ends without its result. */
export type SettleSearch = (result: BlockOf<'web_search_tool_result'> | undefined) => void;

/** One answer as a growing response object, and the events that report its changes. */
export class ResponseAnswer implements AnswerWriter {
  readonly request: ResponsesRequest;
  /** Pending searches by the id of their call. */
  readonly searches = new Map<string, SettleSearch>();
  /** Ids of the calls in this answer. */
  readonly callIds: CallIds;
  readonly #sink: EventSink;
  readonly #createdAt: number;
  readonly #settings: ResponseObject;
  #output: (Item | undefined)[] = [];
  #message: MessageItem | undefined;
  #ending: Ending | undefined;
  #isStarted = false;
  #hasCutCall = false;

  constructor(request: ResponsesRequest, sink: EventSink) {
    this.request = request;
    this.callIds = new CallIds(request.calledIds);
    this.#sink = sink;
    this.#createdAt = Math.floor(request.now() / 1000);
    this.#settings = settings(request.body);
  }

  start(): void {
    this.#isStarted = true;
    const types = ['response.created', 'response.in_progress'];
    this.#sink.emitEach(types, { response: this.#object('in_progress') });
  }

  end(ending: Ending): void {
    this.#ending = ending;
    const status = this.#incompleteReason() ? 'incomplete' : 'completed';
    const { refusal } = ending;
    if (refusal !== undefined && this.request.isCodex) this.message().say(refusal);
    if (refusal === undefined || this.request.isCodex) this.#message?.close(status);
    else this.message().close(status, refusal);
    for (const settle of this.searches.values()) settle(undefined);
  }

  /** The message that receives text: neighbouring text blocks share one. */
  message(): MessageItem {
    return (this.#message ??= new MessageItem(this.#open('msg', MessageItem.beginning)));
  }

  /** Begins an item that is not text, which ends the message before it. */
  open(kind: ItemKind, beginning: Item): OpenItem {
    this.#message?.close('completed');
    this.#message = undefined;
    return this.#open(kind, beginning);
  }

  /**
   * The finished response. `asStored`: with fields that the caller did not request, but needs in its next
   * turn.
   */
  finished(asStored = false): ResponseObject {
    const reason = this.#incompleteReason();
    const isComplete = reason === undefined;
    return {
      ...this.#object(isComplete ? 'completed' : 'incomplete', asStored),
      completed_at: isComplete ? Math.floor(this.request.now() / 1000) : null,
      incomplete_details: isComplete ? null : { reason },
    };
  }

  /** Emits again that the answer is in progress, if it has begun. */
  goOn(): void {
    if (this.#isStarted) this.#sink.emit('response.in_progress', { response: this.#object('in_progress') });
  }

  /** Emits a failure; the response then has the items finished so far. */
  fail(error: GatewayError): void {
    if (!this.#isStarted) this.start();
    const shown = responsesError(error);
    this.#sink.emit('response.failed', {
      response: {
        ...this.#object('failed'),
        error: this.request.isCodex ? withWait(shown, error.headers) : shown,
      },
    });
  }

  /** Codex treats an incomplete response as a failure, which is only right if a call must not run. */
  #incompleteReason(): string | undefined {
    if (this.#ending?.isOwnRefusal) return undefined;
    const reason = incompleteReason(this.#ending?.stopReason ?? null);
    const isFailure = !this.request.isCodex || reason !== 'max_output_tokens' || this.#hasCutCall;
    return isFailure ? reason : undefined;
  }

  #open(kind: ItemKind, beginning: Item): OpenItem {
    const index = this.#output.length;
    const id = itemId(kind, this.request.id, index);
    this.#output.push(undefined);
    this.#sink.emit('response.output_item.added', { output_index: index, item: { id, ...beginning } });
    const at = `"item_id":"${jsonBytes(id)}","output_index":${index},`;
    return {
      emitJson: (type, fields) => this.#sink.emitJson(type, (at + fields) as BinaryString), // both are ASCII or a BinaryString
      emit: (type, fields) => this.#sink.emit(type, { item_id: id, output_index: index, ...fields }),
      done: (fields) => {
        const item: Item = { id, ...fields };
        this.#hasCutCall ||= kind !== 'msg' && item['status'] === 'incomplete';
        this.#output[index] = item;
        this.#sink.emit('response.output_item.done', { output_index: index, item: this.#shown(item) });
      },
    };
  }

  #object(status: string, asStored = false): ResponseObject {
    const done = this.#output.filter((item) => item !== undefined);
    return {
      id: this.request.id,
      object: 'response',
      created_at: this.#createdAt,
      completed_at: null,
      status,
      error: null,
      incomplete_details: null,
      ...this.#settings,
      output: asStored ? done : done.map((item) => this.#shown(item)),
      usage: usageOf(this.#ending),
    };
  }

  #shown(item: Item): Item {
    if (!('encrypted_content' in item)) return item;
    if (this.request.include.has('reasoning.encrypted_content')) return item;
    const { encrypted_content: _, ...shown } = item;
    return shown;
  }
}

function usageOf(ending: { usage: Usage } | undefined): object | null {
  return ending ? responsesUsage(ending.usage) : null;
}

const reasons: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  model_context_window_exceeded: 'max_output_tokens',
  pause_turn: 'max_output_tokens', // still paused after all continuations
  refusal: 'content_filter',
};

/** Reason for an incomplete response; undefined if it is complete. */
function incompleteReason(stopReason: StopReason | null): string | undefined {
  return stopReason !== null && Object.hasOwn(reasons, stopReason) ? reasons[stopReason] : undefined;
}
