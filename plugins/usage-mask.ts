import {
  addUsage,
  definePlugin,
  mapEvents,
  maskedPart,
  mergeUsage,
  type EventMap,
  type ModelReply,
  type Trace,
  type Usage,
} from '@gw2api/gateway/plugin';
import { AdditionTokens, sentByStage } from './shared/addition-tokens.js';

/** Subtracts the gateway's own additions to the request from the usage that the caller sees. */
export default definePlugin({
  name: 'usage-mask',
  api: 1,
  requires: ['reply', 'request'],
  provides: ['reply'],
  setup(_, host) {
    const additionTokens = new AdditionTokens(host);
    return async function usageMask(ctx, next) {
      const { additions, reply, request, trace } = ctx.state;
      if (additions.system.length + additions.tools.length > 0) {
        const sent = sentByStage(additions, reply.leftOut ?? [], (part) => trace.added.stageOf(part));
        const tokens = additionTokens.estimate(sent, reply.model || request.model, reply);
        trace.added.count(tokens);
        const all = Object.values(tokens).reduce((sum, each) => sum + each, 0);
        if (all > 0 && !host.isOfficialClient(ctx.get('user-agent')))
          ctx.state.reply = { ...reply, events: mapEvents(reply.events, mask(all, trace, reply.calls)) };
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
 * Subtracts cache writes, from the 1h part first: the gateway's additions are at the start of the prompt, where the
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
