import { randomUUID } from 'node:crypto';
import type { Blocks } from '../../shared/blocks.js';
import { isCutInput } from 'gw2api/plugin/upstream';
import { fieldsOf, textOf } from '../../shared/fields.js';
import { JsonEnd } from './json-end.js';
import { malformed } from '../../shared/malformed.js';
import type { ToolNames } from '../../shared/tool-names.js';

/**
 * Tool calls of one answer as `tool_use` blocks. A call is found by its id, then by its index unless that call
 * is complete; servers leave out either, or send index 0 for all parallel calls.
 */
export class ToolCalls {
  readonly #blocks: Blocks;
  readonly #names: ToolNames;
  readonly #calls: ToolCall[] = [];
  /** Calls that wait until the ones before are complete: blocks are written one after the other. */
  readonly #waiting: ToolCall[] = [];
  #current: ToolCall | undefined;
  #heldLength = 0;
  #length = 0;

  constructor(blocks: Blocks, names: ToolNames) {
    this.#blocks = blocks;
    this.#names = names;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** True if the arguments of a call are not complete JSON, whatever the server says of its answer. */
  get hasCut(): boolean {
    return this.#calls.some(({ text }) => isCutInput(text));
  }

  /** Adds an entry of `tool_calls`. */
  add(entry: unknown): void {
    const delta = deltaOf(entry);
    const call = this.#find(delta) ?? this.#begin(delta);
    call.name ||= delta.name;
    if (call.json.isComplete && delta.arguments.trim() === '') return;
    this.#keep(call, delta.arguments);
    if (call === this.#current) this.#write(delta.arguments);
    else this.#hold(call, delta.arguments);
    this.#advance();
  }

  /** Closes the calls that are complete; false if one of them still needs its block. */
  settle(): boolean {
    if (this.#current?.json.isComplete && this.#waiting.length === 0) this.#current = undefined;
    return this.#current === undefined && this.#waiting.length === 0;
  }

  /** Writes what is left, at the end of the answer. */
  finish(): void {
    for (const call of this.#waiting.splice(0)) this.#open(call);
    this.#current = undefined;
  }

  #find({ id, index, name, arguments: json }: CallDelta): ToolCall | undefined {
    const own = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (own && (index === undefined || index === own.index)) return own;
    const sibling =
      index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (name === '') return sibling ?? own ?? this.#calls.at(-1);
    if (!sibling || sibling.json.isComplete || (id !== '' && sibling.hasOwnId)) return undefined;
    return index === undefined && isWhole(json) ? undefined : sibling;
  }

  #begin({ id, index, name }: CallDelta): ToolCall {
    if (this.#calls.length === maxCalls) throw malformed(`more than ${maxCalls} tool calls`);
    const isTaken = id === '' || this.#calls.some((call) => call.id === id);
    const call: ToolCall = {
      id: isTaken ? madeId() : id,
      hasOwnId: id !== '',
      index,
      name,
      json: new JsonEnd(),
      text: '',
      held: '',
    };
    this.#calls.push(call);
    this.#waiting.push(call);
    return call;
  }

  /** Opens waiting calls, as far as those before them are complete. */
  #advance(): void {
    while ((!this.#current || this.#current.json.isComplete) && this.#waiting[0]?.name) {
      const [next] = this.#waiting.splice(0, 1);
      if (next) this.#open(next);
    }
  }

  #open(call: ToolCall): void {
    const { id, name, held } = call;
    if (name === '') throw malformed('a tool call without a name');
    this.#current = call;
    call.held = '';
    this.#heldLength -= held.length;
    this.#blocks.begin({ type: 'tool_use', id, name: this.#names.own(name), input: {} });
    this.#write(held);
  }

  #write(json: string): void {
    if (json !== '') this.#blocks.json(json);
  }

  #keep(call: ToolCall, json: string): void {
    this.#length += json.length;
    if (this.#length > maxLength) throw malformed('too long arguments of its tool calls');
    call.json.add(json);
    call.text += json;
  }

  /** Keeps the arguments of a call that waits; those of a closed one are too late. */
  #hold(call: ToolCall, json: string): void {
    if (!this.#waiting.includes(call)) return;
    call.held += json;
    this.#heldLength += json.length;
    if (this.#heldLength > maxHeldLength) throw malformed('too many tool calls at once');
  }
}

interface ToolCall {
  readonly id: string;
  readonly hasOwnId: boolean;
  readonly index: number | undefined;
  name: string;
  readonly json: JsonEnd;
  /** All of its arguments. */
  text: string;
  /** Arguments that came before its block could be opened. */
  held: string;
}

interface CallDelta {
  readonly id: string;
  readonly index: number | undefined;
  readonly name: string;
  readonly arguments: string;
}

const maxCalls = 256;
const maxHeldLength = 16 * 1024 * 1024;
const maxLength = 32 * 1024 * 1024;

function deltaOf(entry: unknown): CallDelta {
  const { id, index, function: called } = fieldsOf(entry);
  const { name, arguments: given } = fieldsOf(called);
  return {
    id: textOf(id),
    index: typeof index === 'number' ? index : undefined,
    name: textOf(name),
    arguments: typeof given === 'object' && given !== null ? JSON.stringify(given) : textOf(given),
  };
}

/** An id in the form of OpenAI's. */
function madeId(): string {
  return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

function isWhole(json: string): boolean {
  const end = new JsonEnd();
  end.add(json);
  return end.isComplete;
}
