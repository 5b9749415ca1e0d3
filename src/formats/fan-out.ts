import type { Interceptor, MessagesRequest, ModelEvents, ModelReply } from '../plugin/index.js';
import { mergeEvents } from './merged-events.js';
import { readAhead } from './read-ahead.js';

/** Makes one of several requests out of the one that the stages have prepared. */
export type Variant = (request: MessagesRequest) => MessagesRequest;

/**
 * Makes several calls at once and one reply of them: the events of call `i` carry choice `i`. `calls`: how often the
 * request is sent, or what each call makes of it. The first failure ends the other calls and is thrown. Answers are read
 * while others have not begun: a call may wait for the place that another one has.
 */
export function fanOut(calls: number | readonly Variant[]): Interceptor {
  const variants = typeof calls === 'number' ? Array.from({ length: calls }, () => same) : calls;
  return (call) => async (request) => {
    const pending = variants.map(async (vary) => {
      const reply = await call(vary(request));
      return { ...reply, events: readAhead(reply.events) };
    });
    return join(await allOrNone(pending));
  };
}

const same: Variant = (request) => request;

/** Slot, status and headers are those of the first call. */
function join(replies: readonly ModelReply[]): ModelReply {
  const [first] = replies;
  if (!first) throw new RangeError('A fan-out needs at least one call.');
  return {
    ...first,
    attempts: replies.reduce((sum, { attempts }) => sum + attempts, 0),
    events: mergeEvents(replies.map(({ events }) => events)),
  };
}

/** All replies; where a call fails its error at once, and the others end as soon as they are there. */
async function allOrNone(pending: readonly Promise<ModelReply>[]): Promise<readonly ModelReply[]> {
  try {
    return await Promise.all(pending);
  } catch (error) {
    for (const reply of pending) reply.then(({ events }) => abandon(events), ignore).catch(ignore);
    throw error;
  }
}

async function abandon(events: ModelEvents): Promise<void> {
  await events[Symbol.asyncIterator]().return?.();
}

/** The first failure is the one that is told. */
function ignore(): void {}
