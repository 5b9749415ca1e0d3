import { isRecord } from '../plugin/internal.js';
import type { KeyedHash } from './keyed-hash.js';
import { blocksIn, isSame, type Prompt } from './prompt.js';

/** Hashes of one prompt: of each tool, each system block, and each block of each message. */
export interface PromptHashes {
  readonly tools: readonly number[];
  readonly system: readonly number[];
  /** Blocks of all messages. */
  readonly blocks: readonly number[];
  /** Index of the first block of each message. */
  readonly starts: readonly number[];
  /** One hash for each message. */
  readonly messages: readonly number[];
}

/** Hashes of the prompt as sent, and of the one that the caller sent. */
export interface HashedPrompts {
  readonly sent: PromptHashes;
  readonly client: PromptHashes;
}

/** Hashes two prompts; parts that both have are hashed once. */
export function hashPrompts(hash: KeyedHash, sent: Prompt, client: Prompt): HashedPrompts {
  const hashed = hashPrompt(hash, sent);
  if (client.tools === sent.tools && client.system === sent.system && client.messages === sent.messages)
    return { sent: hashed, client: hashed };
  const tools = hashList(hash, client.tools, { parts: sent.tools, hashes: hashed.tools }, salts.tool);
  const system = hashList(hash, client.system, { parts: sent.system, hashes: hashed.system }, salts.system);
  const messages =
    client.messages === sent.messages
      ? hashed
      : hashMessages(hash, client.messages, { ...hashed, parts: sent.messages });
  const { blocks, starts } = messages;
  return { sent: hashed, client: { tools, system, blocks, starts, messages: messages.messages } };
}

const salts = { tool: 1, system: 2, user: 3, assistant: 4, other: 5 } as const;

function hashPrompt(hash: KeyedHash, { tools, system, messages }: Prompt): PromptHashes {
  return {
    tools: tools.map((tool) => hash.of(tool, salts.tool)),
    system: system.map((block) => hash.of(block, salts.system)),
    ...hashMessages(hash, messages),
  };
}

/** Parts whose hashes are known. */
interface Known {
  readonly parts: readonly unknown[];
  readonly hashes: readonly number[];
}

/** Hashes of a list; those of the parts that it begins or ends with as the known list does are taken from there. */
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

/** Hashes of messages; with `known`, those of the messages and blocks that another prompt has too are copied. */
function hashMessages(
  hash: KeyedHash,
  messages: readonly unknown[],
  known?: MessageHashes & Pick<Known, 'parts'>,
): MessageHashes {
  const { head, added } = known ? counterparts(messages, known.parts) : { head: 0, added: 0 };
  const { blocks, starts, hashes, same } = known ? sameHead(messages, known) : nothing();
  for (let at = same; at < messages.length; at += 1) {
    const message = messages[at];
    const other = at < head ? at : at + added;
    const start = blocks.length;
    starts.push(start);
    if (known && message === known.parts[other]) {
      append(blocks, known.blocks, rangeOf(known, other));
      hashes.push(known.messages[other] ?? 0);
      continue;
    }
    const own = blocksIn(message);
    const salt = saltOf(message);
    if (known) append(blocks, hashList(hash, own, blocksAt(known, other), salt));
    else for (const block of own) blocks.push(hash.of(block, salt));
    hashes.push(hash.join(blocks, start));
  }
  return { blocks, starts, messages: hashes };
}

/** Hashes of the messages that a prompt begins with as the known one does. */
function sameHead(messages: readonly unknown[], known: MessageHashes & Pick<Known, 'parts'>) {
  let same = 0;
  while (same < messages.length && messages[same] === known.parts[same]) same += 1;
  const [end] = rangeOf(known, same);
  return {
    blocks: known.blocks.slice(0, end),
    starts: known.starts.slice(0, same),
    hashes: known.messages.slice(0, same),
    same,
  };
}

function nothing(): ReturnType<typeof sameHead> {
  return { blocks: [], starts: [], hashes: [], same: 0 };
}

function blocksAt(known: MessageHashes & Pick<Known, 'parts'>, at: number): Known {
  return { parts: blocksIn(known.parts[at]), hashes: known.blocks.slice(...rangeOf(known, at)) };
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

/** Appends a range of a list; spreading it would fail for very long ones. */
function append(to: number[], from: readonly number[], [start, end] = [0, from.length]): void {
  for (let at = start; at < end; at += 1) to.push(from[at] ?? 0);
}

function saltOf(message: unknown): number {
  const role = isRecord(message) ? message['role'] : undefined;
  return role === 'user' ? salts.user : role === 'assistant' ? salts.assistant : salts.other;
}
