import type { MessagesRequest } from '../../plugin/index.js';
import type { RequestVersion } from '../../engine/trace/request-versions.js';
import type { Hashes, KeyedHash } from './keyed-hash.js';
import { lifetimeOf, markedMs, promptOf, type Prompt } from './prompt.js';
import { hashPrompts, type PromptHashes } from './prompt-hashes.js';
import { stageChanges, type StageChange } from './stage-changes.js';

/** Upstream call of a turn, as far as its place in a cache depends on it. */
export interface TurnCall {
  readonly slot: string;
  /** Upstream's name of the model. */
  readonly model: string;
  /** Arrival of the request, unix milliseconds. */
  readonly startedMs: number;
  /** First event of the answer, from which on its cache writes can be read. */
  readonly answeredMs: number;
  /** Prompt tokens read from the cache, written to it, and uncached. */
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly inputTokens: number;
}

/** End of a prefix that a marker asks to cache. */
export interface Boundary {
  /** Number of parts before it. */
  readonly end: number;
  readonly lifetimeMs: number;
}

/** One turn of a session: hashes of its prompt, and their outcome. No text. */
export interface Turn {
  readonly call: TurnCall;
  /** Hashes of the prefixes as sent, up to each part: tools, system blocks, blocks of messages. */
  readonly prefixes: Hashes;
  readonly toolsEnd: number;
  readonly systemEnd: number;
  /** Index of the first block of each message, among those of all messages. */
  readonly starts: Uint32Array;
  /** Hashes of the caller's own parts. */
  readonly clientTools: readonly number[];
  readonly clientSystem: readonly number[];
  readonly clientMessages: Hashes;
  /** For each message of the caller: 1 if it is one of the assistant. */
  readonly isAssistant: Uint8Array;
  readonly changes: readonly StageChange[];
  readonly boundaries: readonly Boundary[];
  /** Stage that has set the markers; undefined: the caller. */
  readonly markedBy: string | undefined;
  /** Hashes of the parameters that providers consider besides the prompt, in the order of `parameterNames`. */
  readonly parameters: readonly number[];
  /** Last time that its prefix was written or read, unix milliseconds. */
  usedMs: number;
}

/** Turn of a request: the first version is the caller's, the last one was sent. */
export function turnOf(
  hash: KeyedHash,
  versions: readonly RequestVersion[],
  call: TurnCall,
): Turn | undefined {
  const history = versions.map(({ by, request }) => ({ by, prompt: promptOf(request) }));
  const client = history[0]?.prompt;
  const sent = history.at(-1)?.prompt;
  const last = versions.at(-1);
  if (!client || !sent || !last) return undefined;
  const hashes = hashPrompts(hash, sent, client);
  const { tools, system, blocks, starts } = hashes.sent;
  const boundaries = boundariesOf(last.request, sent, hashes.sent);
  return {
    call,
    prefixes: hash.prefixes(tools, system, blocks),
    toolsEnd: tools.length,
    systemEnd: tools.length + system.length,
    starts,
    clientTools: hashes.client.tools,
    clientSystem: hashes.client.system,
    clientMessages: hashes.client.messages,
    isAssistant: assistantMarks(client.messages),
    changes: stageChanges(history, hashes),
    boundaries,
    markedBy: boundaries.length > 0 ? markerStage(versions) : undefined,
    parameters: parameters.map(([, valueOf]) => hashOfField(hash, valueOf(last.request))),
    usedMs: call.answeredMs,
  };
}

/** Hash of a field that most requests do not have. */
function hashOfField(hash: KeyedHash, value: unknown): number {
  return value === undefined ? 0 : hash.of(value);
}

function assistantMarks(messages: readonly unknown[]): Uint8Array {
  const marks = new Uint8Array(messages.length);
  for (let at = 0; at < messages.length; at += 1)
    if (Object(messages[at]).role === 'assistant') marks[at] = 1;
  return marks;
}

/** Ends of the marked prefixes; a top-level marker stands for the last block. */
function boundariesOf(
  { cache_control: automatic }: MessagesRequest,
  { tools, system, messages }: Prompt,
  { blocks, starts }: PromptHashes,
): readonly Boundary[] {
  const found: Boundary[] = [];
  addMarked(found, tools, 0);
  addMarked(found, system, tools.length);
  const before = tools.length + system.length;
  for (let at = 0; at < messages.length; at += 1)
    addMarked(found, Object(messages[at]).content, before + (starts[at] ?? 0));
  const end = before + blocks.length;
  const lifetimeMs = lifetimeOf(automatic);
  if (lifetimeMs !== undefined && found.at(-1)?.end !== end) found.push({ end, lifetimeMs });
  return found;
}

/** Adds the ends of the prefixes that end with one of these parts, of which there are `before` others before them. */
function addMarked(found: Boundary[], parts: unknown, before: number): void {
  if (!Array.isArray(parts)) return;
  for (let at = 0; at < parts.length; at += 1) {
    const lifetimeMs = markedMs(parts[at]);
    if (lifetimeMs !== undefined) found.push({ end: before + at + 1, lifetimeMs });
  }
}

/** Stage that has set the first markers; undefined if the caller has set some. */
function markerStage(versions: readonly RequestVersion[]): string | undefined {
  const at = versions.findIndex(({ request }, index) => hasNewMarkers(request, versions[index - 1]?.request));
  return at > 0 ? versions[at]?.by : undefined;
}

/** True for a marker in a part of the request that the version before it, which has none, does not share. */
function hasNewMarkers(request: MessagesRequest, before: MessagesRequest | undefined): boolean {
  const { tools, system, messages, cache_control: automatic } = request;
  return (
    lifetimeOf(automatic) !== undefined ||
    (tools !== before?.tools && hasMarked(tools)) ||
    (system !== before?.system && hasMarked(system)) ||
    (messages !== before?.messages &&
      messages.some((message, at) => message !== before?.messages[at] && hasMarked(Object(message).content)))
  );
}

function hasMarked(parts: unknown): boolean {
  return Array.isArray(parts) && parts.some((part) => markedMs(part) !== undefined);
}

type Parameter = readonly [name: string, valueOf: (request: MessagesRequest) => unknown];

/** Fields that change a provider's reading of the messages. */
const parameters: readonly Parameter[] = [
  ['effort', ({ output_config: config }) => config?.effort],
  ['thinking', ({ thinking }) => thinking],
  ['tool_choice', ({ tool_choice: choice }) => choice],
  ['output format', ({ output_config: config }) => config?.format],
];

/** Names of the parameters that differ between two turns. */
export function changedParameters(one: Turn, other: Turn): readonly string[] {
  return parameters.flatMap(([name], at) => (one.parameters[at] === other.parameters[at] ? [] : [name]));
}

/** Tokens that a turn has left in the cache, up to its last marker. */
export function cachedTokens({ call: { readTokens, writtenTokens } }: Turn): number {
  return readTokens + writtenTokens;
}

/** Number of parts that a turn has left in the cache. */
export function cachedEnd({ boundaries, prefixes }: Turn): number {
  return boundaries.at(-1)?.end ?? prefixes.length;
}

/** Bytes that a turn takes in memory, roughly. */
export function bytesOf({
  prefixes,
  starts,
  clientTools,
  clientSystem,
  clientMessages,
  changes,
}: Turn): number {
  const hashes = prefixes.length + clientTools.length + clientSystem.length + clientMessages.length;
  return 2000 + 8 * hashes + 4 * starts.length + clientMessages.length + 100 * changes.length;
}
