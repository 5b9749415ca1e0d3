import { isRecord } from '../../kit/schema/record.js';
import type { Hashes, KeyedHash } from './keyed-hash.js';
import { blocksIn, isSame, type Prompt } from './prompt.js';

/** Hashes of one prompt: of each tool, each system block, and each block of each message. */
export interface PromptHashes {
  readonly tools: readonly number[];
  readonly system: readonly number[];
  /** Blocks of all messages. */
  readonly blocks: Hashes;
  /** Index of the first block of each message. */
  readonly starts: Uint32Array;
  /** One hash for each message. */
  readonly messages: Hashes;
}

/** Hashes of the prompt as sent, and of the one that the caller sent. */
export interface HashedPrompts {
  readonly sent: PromptHashes;
  readonly client: PromptHashes;
}

/** Hashes two prompts; parts that both have are hashed once. */
export function hashPrompts(hash: KeyedHash, sent: Prompt, client: Prompt): HashedPrompts {
  const hashed: PromptHashes = {
    tools: hashAll(hash, sent.tools, salts.tool),
    system: hashAll(hash, sent.system, salts.system),
    ...hashMessages(hash, sent.messages),
  };
  if (client.tools === sent.tools && client.system === sent.system && client.messages === sent.messages)
    return { sent: hashed, client: hashed };
  const tools = hashList(hash, client.tools, { parts: sent.tools, hashes: hashed.tools }, salts.tool);
  const system = hashList(hash, client.system, { parts: sent.system, hashes: hashed.system }, salts.system);
  const { blocks, starts, messages } = areSame(client.messages, sent.messages)
    ? hashed
    : hashOthers(hash, client.messages, { ...hashed, parts: sent.messages });
  return { sent: hashed, client: { tools, system, blocks, starts, messages } };
}

const salts = { tool: 1, system: 2, user: 3, assistant: 4, other: 5 } as const;

function hashAll(hash: KeyedHash, parts: readonly unknown[], salt: number): readonly number[] {
  const hashes: number[] = [];
  for (let at = 0; at < parts.length; at += 1) hashes.push(hash.of(parts[at], salt));
  return hashes;
}

/** True for the same messages, perhaps with other cache markers: stages copy those that they mark. */
function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1)
    if (one[at] !== other[at] && !isSameMessage(one[at], other[at])) return false;
  return true;
}

function isSameMessage(one: unknown, other: unknown): boolean {
  return saltOf(one) === saltOf(other) && isSame(blocksIn(one), blocksIn(other));
}

/** Parts whose hashes are known. */
interface Known {
  readonly parts: readonly unknown[];
  readonly hashes: ArrayLike<number>;
}

/** Hashes of a list; copies those of the parts that it shares with the beginning or end of the known list. */
function hashList(hash: KeyedHash, parts: readonly unknown[], known: Known, salt: number): readonly number[] {
  const { head, tail } = commonEnds(parts, known.parts);
  const added = known.parts.length - parts.length;
  return parts.map((part, at) => {
    if (at < head) return known.hashes[at] ?? 0;
    if (at >= parts.length - tail) return known.hashes[at + added] ?? 0;
    return hash.of(part, salt);
  });
}

/** Number of parts that two lists begin, and end, with alike. */
function commonEnds(one: readonly unknown[], other: readonly unknown[]): { head: number; tail: number } {
  const max = Math.min(one.length, other.length);
  let head = 0;
  while (head < max && isSame(one[head], other[head])) head += 1;
  let tail = 0;
  while (tail < max - head && isSame(one.at(-1 - tail), other.at(-1 - tail))) tail += 1;
  return { head, tail };
}

type MessageHashes = Pick<PromptHashes, 'blocks' | 'starts' | 'messages'>;

type KnownMessages = MessageHashes & Pick<Known, 'parts'>;

function hashMessages(hash: KeyedHash, list: readonly unknown[]): MessageHashes {
  const blocks = new Float64Array(countBlocks(list));
  const starts = new Uint32Array(list.length);
  const messages = new Float64Array(list.length);
  let end = 0;
  for (let at = 0; at < list.length; at += 1) {
    const own = blocksIn(list[at]);
    const salt = saltOf(list[at]);
    starts[at] = end;
    for (let block = 0; block < own.length; block += 1) blocks[end + block] = hash.of(own[block], salt);
    messages[at] = messageHash(hash, blocks, end, end + own.length);
    end += own.length;
  }
  return { blocks, starts, messages };
}

function countBlocks(list: readonly unknown[]): number {
  let count = 0;
  for (let at = 0; at < list.length; at += 1) count += blocksIn(list[at]).length;
  return count;
}

/** Hash of a message: that of its block if it has one only, as most have. */
function messageHash(hash: KeyedHash, blocks: ArrayLike<number>, from: number, to: number): number {
  return to === from + 1 ? (blocks[from] ?? 0) : hash.join(blocks, from, to);
}

/** Hashes of messages; those of the messages and blocks that another prompt has too are copied. */
function hashOthers(hash: KeyedHash, list: readonly unknown[], known: KnownMessages): MessageHashes {
  const { head, added } = counterparts(list, known.parts);
  const blocks: number[] = [];
  const starts = new Uint32Array(list.length);
  const messages = new Float64Array(list.length);
  for (let at = 0; at < list.length; at += 1) {
    const message = list[at];
    const other = at < head ? at : at + added;
    const start = blocks.length;
    starts[at] = start;
    const same = known.blocks.subarray(...rangeOf(known, other));
    if (message === known.parts[other]) append(blocks, same);
    else
      append(
        blocks,
        hashList(
          hash,
          blocksIn(message),
          { parts: blocksIn(known.parts[other]), hashes: same },
          saltOf(message),
        ),
      );
    messages[at] = messageHash(hash, blocks, start, blocks.length);
  }
  return { blocks: new Float64Array(blocks), starts, messages };
}

/** Pairs the messages of two prompts: one by one up to `head`, from the end after it. */
function counterparts(
  messages: readonly unknown[],
  others: readonly unknown[],
): { head: number; added: number } {
  const added = others.length - messages.length;
  if (added === 0) return { head: messages.length, added };
  let head = 0;
  while (head < messages.length && messages[head] === others[head]) head += 1;
  return { head, added };
}

function rangeOf({ starts, blocks }: MessageHashes, at: number): [from: number, to: number] {
  return [starts[at] ?? blocks.length, starts[at + 1] ?? blocks.length];
}

/** Appends a list; spreading it would fail for very long ones. */
function append(to: number[], from: ArrayLike<number>): void {
  for (let at = 0; at < from.length; at += 1) to.push(from[at] ?? 0);
}

function saltOf(message: unknown): number {
  const role = isRecord(message) ? message['role'] : undefined;
  return role === 'user' ? salts.user : role === 'assistant' ? salts.assistant : salts.other;
}

/** True for two equal runs of hashes. */
export function isEqual(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
