import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import type { Blocks } from '../../shared/answer/blocks.js';
import { malformed } from '../../shared/openai/openai-stream-error.js';
import type { ToolNames } from '../../shared/openai/tool-names.js';
import type { CallDelta } from './call-delta.js';
import { JsonEnd } from './json-end.js';
import { ToolCall } from './tool-call.js';

/**
 * Tool calls of one answer as `tool_use` blocks. A call is found by its id, then by its index unless that call
 * is complete; servers leave out either, or send index 0 for all parallel calls.
 */
export class ToolCalls {
  readonly #blocks: Blocks;
  readonly #names: ToolNames;
  #calls: readonly ToolCall[] = [];
  /** Calls that wait until the ones before are complete: blocks are written one after another. */
  readonly #waiting: ToolCall[] = [];
  #current: ToolCall | undefined;
  #length = 0;

  constructor(blocks: Blocks, names: ToolNames) {
    this.#blocks = blocks;
    this.#names = names;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** True while a call has a block, or waits for one. */
  get isOpen(): boolean {
    return this.#current !== undefined || this.#waiting.length > 0;
  }

  /** True if the arguments of a call are not complete JSON, regardless of the server's reason. */
  get hasCut(): boolean {
    return this.#calls.some(({ isCut }) => isCut);
  }

  /** Adds the calls of one chunk. */
  add(deltas: readonly CallDelta[]): void {
    const seen = new Set<ToolCall>();
    for (const delta of deltas) {
      const call = this.#find(delta, seen) ?? this.#begin(delta);
      seen.add(call);
      this.#extend(call, delta);
    }
  }

  /** Closes the calls that are complete; false if one of them still needs its block. */
  settle(): boolean {
    this.#advance(true);
    if (this.#current?.isComplete && this.#waiting.length === 0) this.#close();
    return !this.isOpen;
  }

  /** Writes the rest, at the end of the answer. Throws for arguments of a call without a name. */
  finish(): void {
    this.#calls = this.#calls.filter(({ isNothing }) => !isNothing);
    for (const call of this.#waiting.splice(0)) if (!call.isNothing) this.#open(call);
    this.#close();
  }

  #extend(call: ToolCall, { name, arguments: json, thought }: CallDelta): void {
    call.name ||= name;
    call.thought ||= thought;
    this.#length += json.length + thought.length;
    if (this.#length > maxLength) throw malformed('tool call arguments that are too long');
    const isClosed = call !== this.#current && !this.#waiting.includes(call);
    call.add(json);
    if (isClosed && call.heldLength > 0) throw malformed('arguments for a tool call that had already ended');
    if (call === this.#current) this.#write(call);
    else if (this.#heldLength > maxHeldLength) throw malformed('too many tool calls at once');
    this.#advance(false);
  }

  get #heldLength(): number {
    return this.#waiting.reduce((sum, { heldLength }) => sum + heldLength, 0);
  }

  /** `seen`: calls of which this chunk has had a piece. */
  #find(delta: CallDelta, seen: ReadonlySet<ToolCall>): ToolCall | undefined {
    const { id, index, name } = delta;
    const own = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (own && (index === undefined || index === own.index))
      return name !== '' && own.isFollowedBy(delta) ? undefined : own;
    const sibling =
      index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (name !== '') return sibling && isNamedPiece(sibling, delta, seen) ? sibling : undefined;
    const known = sibling ?? own ?? this.#calls.at(-1);
    return known?.isFollowedBy(delta) ? undefined : known;
  }

  #begin(delta: CallDelta): ToolCall {
    if (this.#calls.length === maxCalls) throw malformed(`more than ${maxCalls} tool calls`);
    const call = new ToolCall(
      delta,
      this.#calls.some(({ id }) => id === delta.id),
    );
    this.#calls = [...this.#calls, call];
    this.#waiting.push(call);
    return call;
  }

  /** Opens waiting calls, as far as those before them are complete. `isLast`: a `{}` will not be replaced. */
  #advance(isLast: boolean): void {
    while (this.#mayOpen(isLast) && this.#waiting[0]?.name) {
      const [next] = this.#waiting.splice(0, 1);
      if (next) this.#open(next);
    }
  }

  #mayOpen(isLast: boolean): boolean {
    const call = this.#current;
    return !call || (call.isComplete && (isLast || !call.isPlaceholder));
  }

  #open(call: ToolCall): void {
    const { id, name } = call;
    if (name === '') throw malformed('a tool call without a name');
    this.#close();
    if (call.thought !== '') this.#think(call.thought);
    this.#current = call;
    this.#blocks.begin({ type: 'tool_use', id, name: this.#names.own(name), input: {} });
    this.#write(call);
  }

  /** Writes the signature of the next call, which callers of all formats send back before it. */
  #think(thought: string): void {
    this.#blocks.begin({ type: 'thinking', thinking: '', signature: '' });
    this.#blocks.delta({ type: 'signature_delta', signature: reasoningEnvelope.sealThought(thought) });
  }

  /** Writes the received part of a call, except for a `{}` that may be a placeholder. */
  #write(call: ToolCall): void {
    if (!call.isPlaceholder) this.#writeAll(call);
  }

  #writeAll(call: ToolCall): void {
    const json = call.take();
    if (json !== '') this.#blocks.json(json);
  }

  #close(): void {
    if (this.#current) this.#writeAll(this.#current);
    this.#current = undefined;
  }
}

/** True if a piece with a name belongs to the call before it, rather than to a further one. */
function isNamedPiece(
  call: ToolCall,
  { id, index, name, arguments: json }: CallDelta,
  seen: ReadonlySet<ToolCall>,
): boolean {
  if (id !== '' && call.hasOwnId) return false;
  if (call.name === '') return true;
  if (call.isComplete) return false;
  if (index !== undefined) return true;
  return name === call.name && !seen.has(call) && !isWhole(json);
}

const maxCalls = 256;
const maxHeldLength = 16 * 1024 * 1024;
const maxLength = 32 * 1024 * 1024;

function isWhole(json: string): boolean {
  const end = new JsonEnd();
  end.add(json);
  return end.isComplete;
}
