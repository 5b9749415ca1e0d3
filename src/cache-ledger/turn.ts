import { isRecord, type MessagesRequest, type RequestVersion } from '../plugin/internal.js';
import type { KeyedHash } from './keyed-hash.js';
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
  /** First event of the answer: from then on what it wrote can be read. */
  readonly answeredMs: number;
  /** Prompt tokens that were read from the cache, written to it, and neither. */
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

/** One turn of a session: hashes of its prompt, and what became of them. No text. */
export interface Turn {
  readonly call: TurnCall;
  /** Hashes of all parts as sent: tools, system blocks, blocks of messages. */
  readonly sent: readonly number[];
  readonly toolsEnd: number;
  readonly systemEnd: number;
  /** Index of the first block of each message, among those of all messages. */
  readonly starts: readonly number[];
  /** Hashes of the caller's own parts. */
  readonly clientTools: readonly number[];
  readonly clientSystem: readonly number[];
  readonly clientMessages: readonly number[];
  /** For each message of the caller: true if it is one of the assistant. */
  readonly isAssistant: readonly boolean[];
  readonly changes: readonly StageChange[];
  readonly boundaries: readonly Boundary[];
  /** Stage that has set the markers; undefined: the caller. */
  readonly markedBy: string | undefined;
  /** Hashes of what providers take into account besides the prompt, in the order of `parameterNames`. */
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
  const [first] = versions;
  const last = versions.at(-1);
  if (!first || !last) return undefined;
  const prompt = promptOf(last.request);
  const hashes = hashPrompts(hash, prompt, promptOf(first.request));
  const { sent, client } = hashes;
  const toolsEnd = sent.tools.length;
  const systemEnd = toolsEnd + sent.system.length;
  const boundaries = boundariesOf(last.request, prompt, sent);
  return {
    call,
    sent: sent.tools.concat(sent.system, sent.blocks),
    toolsEnd,
    systemEnd,
    starts: sent.starts,
    clientTools: client.tools,
    clientSystem: client.system,
    clientMessages: client.messages,
    isAssistant: promptOf(first.request).messages.map(isOfAssistant),
    changes: stageChanges(versions, hashes),
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

function isOfAssistant(message: unknown): boolean {
  return isRecord(message) && message['role'] === 'assistant';
}

/** Ends of the marked prefixes; a top-level marker stands for the last block. */
function boundariesOf(
  { cache_control: automatic }: MessagesRequest,
  { tools, system, messages }: Prompt,
  { blocks, starts }: PromptHashes,
): readonly Boundary[] {
  const found: Boundary[] = [];
  const mark = (end: number, lifetimeMs: number | undefined): void => {
    if (lifetimeMs !== undefined) found.push({ end, lifetimeMs });
  };
  tools.forEach((tool, at) => mark(at + 1, markedMs(tool)));
  system.forEach((block, at) => mark(tools.length + at + 1, markedMs(block)));
  const before = tools.length + system.length;
  messages.forEach((message, at) => {
    const content: unknown = Object(message).content;
    if (!Array.isArray(content)) return;
    for (let block = 0; block < content.length; block += 1)
      mark(before + (starts[at] ?? 0) + block + 1, markedMs(content[block]));
  });
  const end = before + blocks.length;
  if (found.at(-1)?.end !== end) mark(end, lifetimeOf(automatic));
  return found;
}

/** Stage that has set the first markers; undefined where the caller has set some. */
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
    (messages !== before?.messages && messages.some((message) => hasMarked(Object(message).content)))
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
export function cachedEnd({ boundaries, sent }: Turn): number {
  return boundaries.at(-1)?.end ?? sent.length;
}

/** Bytes that a turn takes in memory, roughly. */
export function bytesOf({ sent, starts, clientTools, clientSystem, clientMessages, changes }: Turn): number {
  const hashes = sent.length + clientTools.length + clientSystem.length + clientMessages.length;
  return 1500 + 12 * hashes + 12 * starts.length + 8 * clientMessages.length + 100 * changes.length;
}
