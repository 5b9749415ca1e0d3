import { createHash } from 'node:crypto';
import type { ContentBlock, MessagesRequest, Usage } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';
import { tokensOf } from './tokens.js';

/** One piece of a prompt, in the order in which prompts are cached: tools, system, messages. */
interface Segment {
  readonly json: string;
  readonly tokens: number;
  readonly mark: CacheControl | undefined;
}

/** Prompt tokens as billed: uncached, cache writes and cache reads. */
export type PromptUsage = Required<
  Pick<Usage, 'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens' | 'cache_creation'>
>;

const lifetimes = { '5m': 300_000, '1h': 3_600_000 } as const;
const baseTokens = 3;
const messageTokens = 2;

/** Tokens of a whole prompt, counted part by part, so that an added system block adds a fixed number. */
export function countPrompt(request: MessagesRequest): number {
  return segmentsOf(request).reduce((sum, { tokens }) => sum + tokens, baseTokens);
}

/**
 * Prompt cache of one simulator, by account and model, without a min size: a marked prefix is written on first use and
 * then read until it is unused for its ttl. Messages are cached only with the same effort, thinking and tool choice.
 */
export class PromptCache {
  readonly #now: () => number;
  readonly #capacity: number;
  /** Expiry and ttl by prefix hash, least recently used first. */
  readonly #prefixes = new Map<string, { endsAtMs: number; ttl: '5m' | '1h' }>();

  constructor(now: () => number, capacity = 10_000) {
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Bills a prompt and remembers its marked prefixes. `account`: owner of the cache. */
  use(request: MessagesRequest, account: string): PromptUsage {
    const segments = segmentsOf(request);
    const total = segments.reduce((sum, { tokens }) => sum + tokens, baseTokens);
    const lastMark = segments.findLastIndex(({ mark }) => mark !== undefined);
    if (lastMark < 0) return billed(total, 0, { '5m': 0, '1h': 0 });
    const hashes = prefixHashes(segments.slice(0, lastMark + 1), `${account}\0${request.model}`);
    const known = hashes.findLastIndex((hash) => this.#touch(hash));
    const written = { '5m': 0, '1h': 0 };
    let from = known + 1;
    segments.slice(0, lastMark + 1).forEach(({ mark }, at) => {
      if (!mark || at < from) return;
      const ttl = mark.ttl ?? '5m';
      written[ttl] += sumTokens(segments.slice(from, at + 1));
      this.#remember(hashes[at] ?? '', ttl);
      from = at + 1;
    });
    return billed(total, sumTokens(segments.slice(0, known + 1)), written);
  }

  /** Clears the cache, as a service may that needs the space. */
  clear(): void {
    this.#prefixes.clear();
  }

  #touch(hash: string): boolean {
    const entry = this.#prefixes.get(hash);
    if (!entry || entry.endsAtMs <= this.#now()) return false;
    this.#remember(hash, entry.ttl);
    return true;
  }

  #remember(hash: string, ttl: '5m' | '1h'): void {
    this.#prefixes.delete(hash);
    this.#prefixes.set(hash, { endsAtMs: this.#now() + lifetimes[ttl], ttl });
    const oldest = this.#prefixes.keys().next();
    if (this.#prefixes.size > this.#capacity && !oldest.done) this.#prefixes.delete(oldest.value);
  }
}

function billed(total: number, read: number, written: Record<'5m' | '1h', number>): PromptUsage {
  const creation = written['5m'] + written['1h'];
  return {
    input_tokens: total - read - creation,
    cache_creation_input_tokens: creation,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: written['5m'],
      ephemeral_1h_input_tokens: written['1h'],
    },
  };
}

function segmentsOf(request: MessagesRequest): readonly Segment[] {
  const { system = [], tools = [], messages, cache_control: automatic } = request;
  const scope = scopeOfMessages(request);
  const segments = [
    ...tools.map((tool) => segment('tool', tool)),
    ...blocksOf(system).map((block) => segment('system', block)),
    ...messages.flatMap(({ role, content }) =>
      blocksOf(content).map((block, at) => segment(role + scope, block, at === 0 ? messageTokens : 0)),
    ),
  ];
  const last = segments.at(-1);
  return automatic && last ? [...segments.slice(0, -1), { ...last, mark: last.mark ?? automatic }] : segments;
}

/** Settings that change how the messages are read, but neither tools nor system prompt. */
function scopeOfMessages({ tool_choice: choice, thinking, output_config: output }: MessagesRequest): string {
  return choice || thinking || output ? JSON.stringify([choice, thinking, output]) : '';
}

function segment(kind: string, part: object & { cache_control?: CacheControl | null }, extra = 0): Segment {
  const { cache_control: mark, ...rest } = part;
  const json = JSON.stringify(rest);
  return { json: kind + json, tokens: tokensOf(json) + extra, mark: mark ?? undefined };
}

function blocksOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function prefixHashes(segments: readonly Segment[], scope: string): readonly string[] {
  let hash = scope;
  return segments.map(({ json }) => {
    hash = createHash('sha1').update(hash).update(json).digest('base64');
    return hash;
  });
}

function sumTokens(segments: readonly Segment[]): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, 0);
}
