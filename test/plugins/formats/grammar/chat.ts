import { expect } from 'chai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { isWellFormed } from './text.js';
import { sentEvents } from '../streams.js';

interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly { readonly index: number; readonly signature?: string }[];
  readonly tool_calls?: readonly ToolDelta[];
  readonly function_call?: { readonly name?: string; readonly arguments: string };
  readonly annotations?: readonly object[];
}

interface ToolDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments: string };
  readonly custom?: { readonly name?: string; readonly input: string };
}

export interface FoldedMessage {
  content: string | null;
  refusal?: string;
  reasoning_content?: string;
  reasoning_details?: object[];
  tool_calls?: { id: string; type: string; name: string; text: string }[];
  function_call?: { name?: string; arguments: string };
  annotations: readonly object[];
}

export interface FoldedChat {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly choices: readonly { readonly message: FoldedMessage; readonly finish_reason: string }[];
  readonly usage: unknown;
}

/** Checks a complete stream against the grammar of chat chunks, and folds it. */
export function foldChat(text: string, options: { usage: boolean }): FoldedChat {
  const sent = sentEvents(text);
  expect(sent.at(-1)?.data).to.equal('[DONE]');
  const chunks = sent.slice(0, -1).map(({ event, data }) => {
    expect(event).to.equal(undefined);
    return JSON.parse(data) as ChatCompletionChunk;
  });
  const [first] = chunks;
  expect(first?.object).to.equal('chat.completion.chunk');
  for (const { id, object, created, model } of chunks)
    expect({ id, object, created, model }).to.deep.equal({
      id: first!.id,
      object: first!.object,
      created: first!.created,
      model: first!.model,
    });
  const usage = checkUsage(chunks, options.usage);
  const choices = new Map<number, ChoiceFold>();
  for (const chunk of options.usage ? chunks.slice(0, -1) : chunks) {
    expect(chunk.choices).to.have.length(1);
    const choice = chunk.choices[0]!;
    expect(choice.logprobs).to.equal(null);
    const fold = choices.get(choice.index) ?? new ChoiceFold();
    choices.set(choice.index, fold);
    fold.add(choice.delta as Delta, choice.finish_reason); // ours are wider than the vendor's
  }
  return {
    id: first!.id,
    model: first!.model,
    created: first!.created,
    choices: [...choices].toSorted(([a], [b]) => a - b).map(([, fold]) => fold.done()),
    usage,
  };
}

function checkUsage(chunks: readonly ChatCompletionChunk[], isIncluded: boolean): unknown {
  if (!isIncluded) {
    for (const chunk of chunks) expect(chunk).to.not.have.property('usage');
    return undefined;
  }
  for (const { usage } of chunks.slice(0, -1)) expect(usage).to.equal(null);
  const last = chunks.at(-1)!;
  expect(last.choices).to.deep.equal([]);
  return last.usage;
}

class ChoiceFold {
  readonly #message: FoldedMessage = { content: null, annotations: [] };
  #content: string | undefined;
  #finish: string | null = null;

  add(delta: Delta, finish: string | null): void {
    expect(this.#finish, 'nothing follows the finish reason').to.equal(null);
    if (this.#content === undefined) expect(delta).to.deep.equal({ role: 'assistant', content: '' });
    else expect(delta).to.not.have.property('role');
    if (finish) expect(delta).to.deep.equal({});
    else expect(Object.keys(delta)).to.have.length.greaterThan(0);
    this.#content = (this.#content ?? '') + wellFormed(delta.content);
    const message = this.#message;
    if (delta.reasoning_content !== undefined)
      message.reasoning_content = (message.reasoning_content ?? '') + wellFormed(delta.reasoning_content);
    if (delta.refusal !== undefined) message.refusal = (message.refusal ?? '') + wellFormed(delta.refusal);
    for (const detail of delta.reasoning_details ?? []) {
      message.reasoning_details ??= [];
      expect(detail.index).to.equal(message.reasoning_details.length);
      message.reasoning_details.push(detail);
    }
    for (const call of delta.tool_calls ?? []) this.#call(call);
    if (delta.function_call) this.#function(delta.function_call);
    if (delta.annotations) {
      expect(message.annotations).to.deep.equal([]);
      message.annotations = delta.annotations;
    }
    this.#finish = finish;
  }

  done(): FoldedChat['choices'][number] {
    expect(this.#finish).to.be.a('string');
    const message = this.#message;
    const { tool_calls, function_call, refusal } = message;
    const isElsewhere = Boolean(tool_calls ?? function_call ?? refusal);
    message.content = this.#content === '' && isElsewhere ? null : this.#content!;
    return { message, finish_reason: this.#finish! };
  }

  #call({ index, id, type, function: called, custom }: ToolDelta): void {
    const calls = (this.#message.tool_calls ??= []);
    const text = called?.arguments ?? custom!.input;
    const known = calls[index];
    if (known) {
      expect([id, type, called?.name, custom?.name]).to.deep.equal([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      known.text += wellFormed(text);
      return;
    }
    expect(index).to.equal(calls.length);
    expect(id).to.be.a('string');
    expect(text).to.equal('');
    calls.push({ id: id!, type: type!, name: (called ?? custom)!.name!, text });
  }

  #function({ name, arguments: json }: { readonly name?: string; readonly arguments: string }): void {
    const known = this.#message.function_call;
    if (!known) {
      expect(name).to.be.a('string');
      expect(json).to.equal('');
      this.#message.function_call = { name: name!, arguments: json };
    } else {
      expect(name).to.equal(undefined);
      known.arguments += json;
    }
  }
}

function wellFormed(text = ''): string {
  expect(isWellFormed(text), `a pair cut in half in ${JSON.stringify(text)}`).to.equal(true);
  return text;
}

interface WholeChat extends Omit<FoldedChat, 'choices'> {
  readonly object: string;
  readonly choices: readonly { readonly message: WholeMessage; readonly finish_reason: string }[];
}

interface WholeMessage extends Omit<FoldedMessage, 'tool_calls' | 'refusal'> {
  readonly role: string;
  readonly refusal: string | null;
  readonly tool_calls?: readonly (Required<Omit<ToolDelta, 'function' | 'custom'>> & ToolDelta)[];
}

/** A whole chat completion in the form that `foldChat` gives. */
export function wholeChat(body: unknown): FoldedChat {
  const { object, choices, ...same } = body as WholeChat; // what is compared with the fold
  expect(object).to.equal('chat.completion');
  return {
    ...same,
    choices: choices.map(({ message, finish_reason }) => {
      const { role, refusal, tool_calls, ...same } = message;
      expect(role).to.equal('assistant');
      expect(refusal === null || typeof refusal === 'string').to.equal(true);
      const calls = tool_calls?.map(({ id, type, function: called, custom }) => ({
        id,
        type,
        name: (called ?? custom)!.name!,
        text: called?.arguments ?? custom!.input,
      }));
      const folded = { ...same, ...(refusal && { refusal }), ...(calls && { tool_calls: calls }) };
      return { message: folded, finish_reason };
    }),
  };
}
