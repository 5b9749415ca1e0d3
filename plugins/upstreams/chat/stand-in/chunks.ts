import { fieldsOf, type Fields } from '../../shared/fields.js';
import { openaiError, openaiTokens } from '../../shared/openai/openai-stand-in.js';

/** Events of one answer of the Messages API as chunks of Chat Completions. */
export class ChunkWriter {
  #head: Fields = {};
  #usage: Fields = {};
  /** Number of the last tool call; -1 before the first. */
  #tool = -1;

  /** Texts of the chunks for an event; none for one that has no counterpart. */
  write(event: Fields): readonly string[] {
    const { type } = event;
    if (type === 'error') return [JSON.stringify({ error: openaiError(fieldsOf(event['error'])) })];
    if (type === 'message_start') return this.#start(fieldsOf(event['message']));
    if (type === 'content_block_start') return this.#startBlock(fieldsOf(event['content_block']));
    if (type === 'content_block_delta') return this.#addTo(fieldsOf(event['delta']));
    if (type === 'message_delta') return this.#finish(event);
    if (type !== 'message_stop') return [];
    const { input, cached, output, total } = openaiTokens(this.#usage);
    const usage = {
      prompt_tokens: input,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens: output,
      total_tokens: total,
    };
    return [JSON.stringify({ ...this.#head, choices: [], usage }), '[DONE]'];
  }

  #start({ id, model, usage }: Fields): readonly string[] {
    this.#head = { id, object: 'chat.completion.chunk', created: 0, model };
    this.#usage = fieldsOf(usage);
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #startBlock({ type, id, name }: Fields): readonly string[] {
    if (type !== 'tool_use') return [];
    this.#tool += 1;
    return this.#chunk({
      tool_calls: [{ index: this.#tool, id, type: 'function', function: { name, arguments: '' } }],
    });
  }

  #addTo({ type, text, thinking, partial_json: json }: Fields): readonly string[] {
    if (type === 'text_delta') return this.#chunk({ content: text });
    if (type === 'thinking_delta') return this.#chunk({ reasoning_content: thinking });
    if (type !== 'input_json_delta') return [];
    return this.#chunk({ tool_calls: [{ index: this.#tool, function: { arguments: json } }] });
  }

  #finish({ delta, usage }: Fields): readonly string[] {
    this.#usage = { ...this.#usage, ...fieldsOf(usage) };
    return this.#chunk({}, finishReasons.get(String(fieldsOf(delta)['stop_reason'])) ?? 'stop');
  }

  #chunk(delta: object, finishReason: string | null = null): readonly string[] {
    return [JSON.stringify({ ...this.#head, choices: [{ index: 0, delta, finish_reason: finishReason }] })];
  }
}

const finishReasons = new Map([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
]);
