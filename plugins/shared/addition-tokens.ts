import { LRUCache } from 'lru-cache';
import {
  estimateTokens,
  forwardedHeaders,
  type Additions,
  type Host,
  type MessagesRequest,
  type ModelReply,
  type Slot,
  type TextBlock,
  type Tool,
} from '@gw2api/gateway/plugin';

/** Additions of one stage. */
export interface AddedByStage {
  /** Empty: unknown. */
  readonly stage: string;
  readonly system: readonly TextBlock[];
  readonly tools: readonly Tool[];
}

/** Tokens that the additions of each stage have, by its name. */
export type TokensByStage = Readonly<Record<string, number>>;

/** Additions that were sent, by the stages that made them, in their order. */
export function sentByStage(
  { system, tools }: Additions,
  leftOut: readonly Tool[],
  stageOf: (part: object) => string | undefined,
): readonly AddedByStage[] {
  const groups: { readonly stage: string; readonly system: TextBlock[]; readonly tools: Tool[] }[] = [];
  const groupOf = (part: object) => {
    const stage = stageOf(part) ?? '';
    const known = groups.find((group) => group.stage === stage);
    if (known) return known;
    const group = { stage, system: [], tools: [] };
    groups.push(group);
    return group;
  };
  for (const block of system) groupOf(block).system.push(block);
  for (const tool of tools) if (!leftOut.includes(tool)) groupOf(tool).tools.push(tool);
  return groups;
}

type Answering = Pick<ModelReply, 'addedTokens' | 'slot' | 'upstreamModel'>;

/** Additions with their cache key. */
interface Keyed {
  readonly model: string;
  readonly added: readonly AddedByStage[];
  readonly key: string;
}

interface Estimate {
  readonly tokens: TokensByStage;
  /** Time at which an estimate is measured again, unix milliseconds. */
  readonly measureAtMs: number;
}

/**
 * Token count of the additions per model and stage: from the upstream's own estimate if it has one, else estimated
 * first, then measured.
 */
export class AdditionTokens {
  readonly #host: Host;
  readonly #disposed = new AbortController();
  readonly #estimates = new LRUCache<string, Estimate>({ max: maxEstimates });
  #last: Keyed = { model: '', added: [], key: '' };

  constructor(host: Host) {
    this.#host = host;
    host.onDispose(() => this.#disposed.abort());
    host.metrics.cache('usage_mask_weights', () => ({
      entries: this.#estimates.size,
      capacity: maxEstimates,
    }));
  }

  estimate(
    added: readonly AddedByStage[],
    model: string,
    { addedTokens, slot: slotId, upstreamModel }: Answering,
  ): TokensByStage {
    if (addedTokens !== undefined) return divided(addedTokens, added);
    const key = this.#keyOf(added, model);
    const known = this.#estimates.get(key);
    if (known && this.#host.now() < known.measureAtMs) return known.tokens;
    const tokens = known?.tokens ?? estimated(added);
    if (slotId === undefined) return tokens;
    this.#estimates.set(key, { tokens, measureAtMs: this.#host.now() + 300_000 });
    const slot = this.#host.slots.get(slotId);
    if (!slot) return tokens;
    const name = upstreamModel ?? this.#host.models.find(model)?.upstreamModel ?? model;
    void this.#measure(key, added, name, slot);
    return tokens;
  }

  /**
   * Cache key of the additions. Compares objects first: most stages add the same ones each time, and
   * serializing is slow.
   */
  #keyOf(added: readonly AddedByStage[], model: string): string {
    if (model !== this.#last.model || !isSame(added, this.#last.added))
      this.#last = { model, added, key: JSON.stringify([model, added]) };
    return this.#last.key;
  }

  /**
   * Measures the additions: the counts of a placeholder with those of all stages, and of one stage less each time.
   * If the upstream cannot count, the estimate stays.
   */
  async #measure(key: string, added: readonly AddedByStage[], model: string, slot: Slot): Promise<void> {
    const alone: MessagesRequest = { model, messages: [{ role: 'user', content: '.' }] };
    const requests = [...added, undefined].map((_, left) =>
      withAdded(alone, added.slice(0, added.length - left)),
    );
    try {
      const counts = await Promise.all(requests.map((request) => this.#count(slot, request)));
      if (counts.some((count) => count.estimated)) return;
      const measured = added.map(({ stage }, at) => {
        const [more, less] = [counts[added.length - 1 - at], counts[added.length - at]];
        return [stage, Math.max(0, (more?.inputTokens ?? 0) - (less?.inputTokens ?? 0))];
      });
      this.#estimates.set(key, { tokens: Object.fromEntries(measured), measureAtMs: Infinity });
    } catch (error) {
      this.#host.log.debug(
        { err: error, slot: slot.id },
        'The tokens that the gateway adds could not be counted.',
      );
    }
  }

  #count(slot: Slot, request: MessagesRequest) {
    return slot.countTokens({
      request,
      headers: forwardedHeaders({}),
      search: '',
      signal: this.#disposed.signal,
      headersTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
    });
  }
}

/** Estimate of all additions, divided among the stages by their own. */
function estimated(added: readonly AddedByStage[]): TokensByStage {
  const parts = (upTo: number) => added.slice(0, upTo).flatMap(({ system, tools }) => [...system, ...tools]);
  const tokens = added.map(({ stage }, at) => {
    const before = at === 0 ? 0 : estimateTokens(parts(at));
    return [stage, estimateTokens(parts(at + 1)) - before];
  });
  return Object.fromEntries(tokens);
}

/** Tokens divided among the stages in the ratio of their own estimates; none is lost to rounding. */
function divided(tokens: number, added: readonly AddedByStage[]): TokensByStage {
  const [only, ...others] = added;
  if (only && others.length === 0) return { [only.stage]: tokens };
  const parts = estimated(added);
  const all = Object.values(parts).reduce((sum, part) => sum + part, 0);
  let before = 0;
  const shares = Object.entries(parts).map(([stage, part]) => {
    const start = Math.round((tokens * before) / all);
    before += part;
    return [stage, Math.round((tokens * before) / all) - start];
  });
  return Object.fromEntries(shares);
}

function withAdded(request: MessagesRequest, added: readonly AddedByStage[]): MessagesRequest {
  const system = added.flatMap((each) => each.system);
  const tools = added.flatMap((each) => each.tools);
  return { ...request, ...(system.length > 0 && { system }), ...(tools.length > 0 && { tools }) };
}

function isSame(one: readonly AddedByStage[], other: readonly AddedByStage[]): boolean {
  return one.length === other.length && one.every((group, at) => isSameGroup(group, other[at]));
}

function isSameGroup({ stage, system, tools }: AddedByStage, other: AddedByStage | undefined): boolean {
  return stage === other?.stage && isSameList(system, other.system) && isSameList(tools, other.tools);
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}

/** Max cached counts, more than the pairs of text and model of a config. */
const maxEstimates = 100;
