import { expect } from 'chai';
import { sentEvents } from '../streams.js';
import { isWellFormed } from './text.js';

/** The fields that every response object has (Open Responses, and the vendor's type). */
const fields = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'error',
  'incomplete_details',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'model',
  'output',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'background',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'text',
  'tool_choice',
  'tools',
  'truncation',
  'usage',
  'user',
  'metadata',
];

export interface ResponseBody {
  readonly id: string;
  readonly status: string;
  readonly output: readonly ItemBody[];
  readonly [field: string]: unknown;
}

export interface ItemBody {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly encrypted_content?: string;
  readonly summary?: readonly { readonly type: string; readonly text: string }[];
  readonly content?: readonly PartBody[];
  readonly [field: string]: unknown;
}

interface PartBody {
  readonly type: string;
  readonly text: string;
  readonly refusal?: string;
  readonly annotations: readonly { readonly start_index: number; readonly end_index: number }[];
  readonly logprobs: readonly unknown[];
}

export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response: ResponseBody;
  readonly output_index: number;
  readonly item_id: string;
  readonly item: ItemBody;
  readonly content_index: number;
  readonly summary_index: number;
  readonly annotation_index: number;
  readonly annotation: PartBody['annotations'][number];
  readonly part: PartBody;
  readonly delta: string;
  readonly text: string;
  readonly refusal: string;
  readonly arguments: string;
  readonly input: string;
  readonly logprobs: readonly unknown[];
}

export function responseEvents(text: string): readonly ResponseEvent[] {
  return sentEvents(text)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ event, data }) => {
      const value = JSON.parse(data) as ResponseEvent;
      expect(value.type).to.equal(event);
      return value;
    });
}

/** Checks a complete stream against the grammar of Responses events; gives the response that it ends with. */
export function checkResponses(text: string): ResponseBody {
  expect(sentEvents(text).at(-1)?.data).to.equal('[DONE]');
  const last = checkEvents(text);
  expect(['response.completed', 'response.incomplete']).to.include(last.type);
  expect(last.type).to.equal(`response.${last.response.status}`);
  return last.response;
}

/** The same for a stream that failed. */
export function checkFailed(text: string): ResponseBody {
  expect(sentEvents(text).at(-1)?.data).to.not.equal('[DONE]');
  const last = checkEvents(text, false);
  expect([last.type, last.response.status]).to.deep.equal(['response.failed', 'failed']);
  return last.response;
}

function checkEvents(text: string, isComplete = true): ResponseEvent {
  const events = responseEvents(text);
  expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal(events.map((_, at) => at));
  const [created, inProgress] = events;
  expect([created?.type, inProgress?.type]).to.deep.equal(['response.created', 'response.in_progress']);
  for (const { response } of [created!, inProgress!]) {
    checkFields(response);
    expect([response.status, response.output, response['usage']]).to.deep.equal(['in_progress', [], null]);
  }
  const items: ItemCheck[] = [];
  for (const event of events.slice(2, -1)) {
    if (event.type === 'response.output_item.added') {
      expect(event.output_index).to.equal(items.length);
      items.push(new ItemCheck(event.item));
    } else {
      const item = items[event.output_index];
      expect(item, event.type).to.not.equal(undefined);
      item!.see(event);
    }
  }
  const last = events.at(-1)!;
  checkFields(last.response);
  const done = items.flatMap(({ done }) => (done ? [done] : []));
  if (isComplete) expect(done).to.have.length(items.length);
  expect(last.response.output).to.deep.equal(done);
  return last;
}

function checkFields(response: ResponseBody): void {
  expect(response).to.have.all.keys(fields);
}

/** Follows one output item from `added` to `done`. */
class ItemCheck {
  done: ItemBody | undefined;
  readonly #added: ItemBody;
  #seen: string[] = [];
  #text = '';
  #refusal = '';
  #annotations: object[] = [];

  constructor(added: ItemBody) {
    expect(added.id).to.match(/^(msg|rs|fc|ctc|ws|cmp)_/);
    this.#added = added;
  }

  see(event: ResponseEvent): void {
    expect(this.done, `${event.type} after the item's end`).to.equal(undefined);
    if (event.type === 'response.output_item.done') return this.#finish(event.item);
    expect(event.item_id).to.equal(this.#added.id);
    const type = event.type.replace(/^response\./, '');
    if (type.endsWith('.delta')) this.#extend(event);
    if (type === 'output_text.annotation.added') {
      expect(event.annotation_index).to.equal(this.#annotations.length);
      this.#annotations.push(event.annotation);
    }
    if (this.#seen.at(-1) !== type) this.#seen.push(type);
    if (event.refusal !== undefined) expect(event.refusal).to.equal(this.#refusal);
    const whole = event.arguments ?? event.input ?? event.text;
    if (whole !== undefined) expect(whole).to.equal(this.#text);
  }

  #extend({ delta, type, logprobs }: ResponseEvent): void {
    expect(isWellFormed(delta), `a pair cut in half in ${JSON.stringify(delta)}`).to.equal(true);
    expect(delta).to.not.equal('');
    if (type === 'response.output_text.delta') expect(logprobs).to.deep.equal([]);
    if (type === 'response.refusal.delta') this.#refusal += delta;
    else this.#text += delta;
  }

  #finish(item: ItemBody): void {
    this.done = item;
    expect([item.id, item.type]).to.deep.equal([this.#added.id, this.#added.type]);
    grammars[item.type]!(item, this.#text, this.#annotations, this.#refusal);
    expect(this.#seen.join(' '), item.type).to.match(orders[item.type]!);
  }
}

const orders: Readonly<Record<string, RegExp>> = {
  message:
    /^(content_part\.added( output_text\.(delta|annotation\.added))* output_text\.done content_part\.done ?)?(content_part\.added refusal\.delta refusal\.done content_part\.done)?$/,
  reasoning:
    /^(reasoning_summary_part\.added reasoning_summary_text\.delta reasoning_summary_text\.done reasoning_summary_part\.done)?$/,
  function_call: /^(function_call_arguments\.delta )?function_call_arguments\.done$/,
  custom_tool_call: /^(custom_tool_call_input\.delta )?custom_tool_call_input\.done$/,
  web_search_call: /^web_search_call\.in_progress web_search_call\.searching( web_search_call\.completed)?$/,
  compaction: /^$/,
};

const grammars: Readonly<
  Record<string, (item: ItemBody, text: string, annotations: object[], refusal: string) => void>
> = {
  message: ({ content, status }, text, annotations, refusal) => {
    expect(content).to.deep.equal([
      ...(text === '' ? [] : [{ type: 'output_text', text, annotations, logprobs: [] }]),
      ...(refusal === '' ? [] : [{ type: 'refusal', refusal }]),
    ]);
    expect(content).to.have.length.greaterThan(0);
    expect(['completed', 'incomplete']).to.include(status);
    for (const { start_index, end_index } of content![0]!.annotations ?? [])
      expect(start_index).to.be.lessThan(end_index).and.within(0, text.length);
  },
  reasoning: ({ summary }, text) =>
    expect(summary).to.deep.equal(text === '' ? [] : [{ type: 'summary_text', text }]),
  function_call: ({ arguments: json, call_id, name, status }, text) => {
    expect(json).to.equal(text);
    expect([typeof call_id, typeof name]).to.deep.equal(['string', 'string']);
    expect(['completed', 'incomplete']).to.include(status);
  },
  custom_tool_call: ({ input }, text) => expect(input).to.equal(text),
  web_search_call: ({ status, action }) => {
    expect(['completed', 'failed']).to.include(status);
    expect(action).to.have.property('query').a('string');
  },
  compaction: (item) => expect(item).to.have.property('encrypted_content').a('string'),
};
