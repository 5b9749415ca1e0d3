import { LRUCache } from 'lru-cache';
import {
  addUsage,
  definePlugin,
  estimateTokens,
  forwardedHeaders,
  mapEvents,
  mergeUsage,
  type Additions,
  type EventMap,
  type Host,
  type MessagesRequest,
  type ModelReply,
  type Slot,
  type Trace,
  type Usage,
} from 'gw2api/plugin';

/**
 * Subtracts the gateway's own additions to the request from the usage that the caller sees (contract §4.7).
 */
export default definePlugin({
  name: 'usage-mask',
  api: 1,
  requires: ['reply', 'request'],
  provides: ['reply'],
  setup(_, host) {
    const additionTokens = new AdditionTokens(host);
    return async function usageMask(ctx, next) {
      const { additions, reply, request, trace } = ctx.state;
      const isMasked = additions.system.length + additions.tools.length > 0;
      if (isMasked && !host.isOfficialClient(ctx.get('user-agent'))) {
        const tokens = additionTokens.estimate(additions, reply.model || request.model, reply);
        ctx.state.reply = { ...reply, events: mapEvents(reply.events, mask(tokens, trace, reply.calls)) };
      }
      await next();
    };
  },
});

/**
 * Subtracts the same tokens from both reports of an answer, from a later one only in the fields that it has.
 * If several calls made up the answer, each of them had the additions in its input.
 */
function mask(tokens: number, trace: Pick<Trace, 'mask'>, calls: ModelReply['calls'] = () => 1): EventMap {
  const starts: Usage[] = [];
  const masked: Usage[] = [];
  const take = (usage: Usage, choice: number): Usage => {
    const part = maskedPart(usage, tokens * calls(choice));
    masked[choice] = part;
    trace.mask(masked.length === 1 ? part : masked.reduce(addUsage, {}));
    return part;
  };
  return {
    message_start(event, choice) {
      const { message } = event;
      if (!message.usage) return event; // some services count only at the end
      starts[choice] = message.usage;
      return {
        ...event,
        message: { ...message, usage: without(message.usage, take(message.usage, choice)) },
      };
    },
    message_delta(event, choice) {
      if (!event.usage) return event;
      const whole = mergeUsage(starts[choice] ?? {}, event.usage);
      return { ...event, usage: without(event.usage, take(whole, choice)) };
    },
  };
}

const fields = ['cache_read_input_tokens', 'cache_creation_input_tokens', 'input_tokens'] as const;

/**
 * Part of a usage report that `tokens` account for: cache reads first, then cache writes, then plain input;
 * never more than reported.
 */
export function maskedPart(usage: Usage, tokens: number): Usage {
  const part: Record<string, number> = {};
  let left = tokens;
  for (const field of fields) {
    const taken = Math.min(left, usage[field] ?? 0);
    left -= taken;
    if (taken > 0) part[field] = taken;
  }
  return part;
}

/** Usage report without `part`; a missing field stays absent. */
export function without(usage: Usage, part: Usage): Usage {
  const left: Record<string, unknown> = { ...usage };
  for (const field of fields) {
    const count = usage[field];
    if (typeof count === 'number') left[field] = Math.max(0, count - (part[field] ?? 0));
  }
  const { cache_creation: written } = usage;
  if (written) left['cache_creation'] = withoutWritten(written, part.cache_creation_input_tokens ?? 0);
  return left;
}

/**
 * Subtracts cache writes, from the 1h part first: our additions are at the start of the prompt, where the
 * longer ttl comes first.
 */
function withoutWritten(
  written: NonNullable<Usage['cache_creation']>,
  tokens: number,
): Usage['cache_creation'] {
  const { ephemeral_1h_input_tokens: hour = 0, ephemeral_5m_input_tokens: minutes = 0 } = written;
  const ofHour = Math.min(hour, tokens);
  return {
    ...written,
    ...(ofHour > 0 && { ephemeral_1h_input_tokens: hour - ofHour }),
    ...(tokens > ofHour && { ephemeral_5m_input_tokens: Math.max(0, minutes - (tokens - ofHour)) }),
  };
}

/** Additions with their cache key. */
interface Keyed {
  readonly model: string;
  readonly additions: Additions;
  readonly key: string;
}

type Answering = Pick<ModelReply, 'slot' | 'upstreamModel'>;

interface Estimate {
  readonly tokens: number;
  /** Time at which an estimate is measured again, unix milliseconds. */
  readonly measureAtMs: number;
}

/** Token count of the additions per model: estimated first, then measured. */
class AdditionTokens {
  readonly #host: Host;
  readonly #disposed = new AbortController();
  readonly #estimates = new LRUCache<string, Estimate>({ max: maxEstimates });
  #last: Keyed = { model: '', additions: { system: [], tools: [] }, key: '' };

  constructor(host: Host) {
    this.#host = host;
    host.onDispose(() => this.#disposed.abort());
    host.metrics.cache('usage_mask_weights', () => ({
      entries: this.#estimates.size,
      capacity: maxEstimates,
    }));
  }

  estimate(additions: Additions, model: string, { slot: slotId, upstreamModel }: Answering): number {
    const key = this.#keyOf(additions, model);
    const known = this.#estimates.get(key);
    if (known && this.#host.now() < known.measureAtMs) return known.tokens;
    const tokens = known?.tokens ?? estimateTokens([...additions.system, ...additions.tools]);
    if (slotId === undefined) return tokens;
    this.#estimates.set(key, { tokens, measureAtMs: this.#host.now() + 300_000 });
    const slot = this.#host.slots.get(slotId);
    if (!slot) return tokens;
    const name = upstreamModel ?? this.#host.models.find(model)?.upstreamModel ?? model;
    void this.#measure(key, additions, name, slot);
    return tokens;
  }

  /**
   * Cache key of the additions. Compares objects first: most stages add the same ones each time, and
   * serializing is slow.
   */
  #keyOf(additions: Additions, model: string): string {
    if (model !== this.#last.model || !isSame(additions, this.#last.additions))
      this.#last = { model, additions, key: JSON.stringify([model, additions]) };
    return this.#last.key;
  }

  /**
   * Measures the additions: the count of a placeholder with them, less that without. If the upstream cannot
   * count, the estimate stays.
   */
  async #measure(key: string, { system, tools }: Additions, model: string, slot: Slot): Promise<void> {
    const alone: MessagesRequest = { model, messages: [{ role: 'user', content: '.' }] };
    const parts = { ...(system.length > 0 && { system }), ...(tools.length > 0 && { tools }) };
    try {
      const counts = [this.#count(slot, { ...alone, ...parts }), this.#count(slot, alone)] as const;
      const [together, placeholder] = await Promise.all(counts);
      if (together.estimated || placeholder.estimated) return;
      const tokens = Math.max(0, together.inputTokens - placeholder.inputTokens);
      this.#estimates.set(key, { tokens, measureAtMs: Infinity });
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

function isSame(one: Additions, other: Additions): boolean {
  return isSameList(one.system, other.system) && isSameList(one.tools, other.tools);
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}

/** Max cached counts: more pairs of a text and a model than a config has. */
const maxEstimates = 100;
