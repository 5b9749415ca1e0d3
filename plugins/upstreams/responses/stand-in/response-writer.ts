import { fieldsOf, textOf, type Fields } from '../../shared/fields.js';
import { openaiError, openaiTokens } from '../../shared/openai/openai-stand-in.js';

/** Events of one answer of the Messages API as events of the Responses API. */
export class ResponseWriter {
  #response: Fields = {};
  #usage: Fields = {};
  #stopReason = '';
  #sequence = 0;
  #item: OutputItem | undefined;

  /** Texts of the events for an event; none for one that has no counterpart. */
  write(event: Fields): readonly string[] {
    const { type } = event;
    if (type === 'error') return this.#fail(fieldsOf(event['error']));
    if (type === 'message_start') return this.#start(fieldsOf(event['message']));
    if (type === 'content_block_start') return this.#startBlock(event);
    if (type === 'content_block_delta') return this.#addTo(fieldsOf(event['delta']));
    if (type === 'content_block_stop') return this.#endBlock();
    if (type === 'message_stop') return this.#finish();
    if (type === 'message_delta') this.#stop(event);
    return [];
  }

  #start({ id, model, usage }: Fields): readonly string[] {
    this.#response = { id, object: 'response', created_at: 0, model, output: [] };
    this.#usage = fieldsOf(usage);
    return this.#event('response.created', { response: { ...this.#response, status: 'in_progress' } });
  }

  #startBlock({ index, content_block: given }: Fields): readonly string[] {
    const item = itemOf(fieldsOf(given));
    if (!item) return [];
    this.#item = { index, item, text: '' };
    return this.#event('response.output_item.added', { output_index: index, item: itemWith(item, '') });
  }

  #addTo(delta: Fields): readonly string[] {
    const open = this.#item;
    const [type, field] = deltas.get(textOf(delta['type'])) ?? [];
    if (!open || type === undefined || field === undefined) return [];
    const text = textOf(delta[field]);
    open.text += text;
    return this.#event(type, { output_index: open.index, delta: text });
  }

  #endBlock(): readonly string[] {
    const open = this.#item;
    if (!open) return [];
    this.#item = undefined;
    const item = itemWith(open.item, open.text);
    return this.#event('response.output_item.done', { output_index: open.index, item });
  }

  #stop({ delta, usage }: Fields): void {
    this.#usage = { ...this.#usage, ...fieldsOf(usage) };
    this.#stopReason = textOf(fieldsOf(delta)['stop_reason']);
  }

  #finish(): readonly string[] {
    const { input, cached, output, total } = openaiTokens(this.#usage);
    const reason = incompleteReasons.get(this.#stopReason);
    const status = reason === undefined ? 'completed' : 'incomplete';
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      total_tokens: total,
    };
    const details = reason === undefined ? null : { reason };
    return this.#event(`response.${status}`, {
      response: { ...this.#response, status, usage, incomplete_details: details },
    });
  }

  #fail(error: Fields): readonly string[] {
    return this.#event('response.failed', {
      response: { ...this.#response, status: 'failed', error: openaiError(error) },
    });
  }

  #event(type: string, fields: object): readonly string[] {
    this.#sequence += 1;
    return [JSON.stringify({ type, sequence_number: this.#sequence - 1, ...fields })];
  }
}

/** Output item that is still open. */
interface OutputItem {
  readonly index: unknown;
  readonly item: Fields;
  text: string;
}

const deltas = new Map<string, readonly [type: string, field: string]>([
  ['text_delta', ['response.output_text.delta', 'text']],
  ['thinking_delta', ['response.reasoning_summary_text.delta', 'thinking']],
  ['input_json_delta', ['response.function_call_arguments.delta', 'partial_json']],
]);

const incompleteReasons = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  ['refusal', 'content_filter'],
]);

/** Output item of a block, without its text; undefined if there is none. */
function itemOf({ type, id, name }: Fields): Fields | undefined {
  if (type === 'text') return { type: 'message', role: 'assistant' };
  if (type === 'thinking') return { type: 'reasoning' };
  return type === 'tool_use' ? { type: 'function_call', call_id: id, name } : undefined;
}

function itemWith(item: Fields, text: string): Fields {
  if (item['type'] === 'function_call') return { ...item, arguments: text };
  if (item['type'] === 'message')
    return { ...item, content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }] };
  return { ...item, summary: text === '' ? [] : [{ type: 'summary_text', text }] };
}
