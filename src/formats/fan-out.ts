import type { Interceptor, MessagesRequest, ModelReply } from '../plugin/index.js';
import { mergeEvents } from './merged-events.js';
import { ReadAhead } from './read-ahead.js';

/** Makes one of several requests out of the one that the stages have prepared. */
export type Variant = (request: MessagesRequest) => MessagesRequest;

/**
 * Fan-out: makes several calls at once and merges them into one reply, in which the events of call `i` carry
 * choice `i`; the first failure ends the other calls and is thrown. Early replies are read ahead while the
 * others wait, as those may wait for their permits.
 */
export function fanOut(calls: number | readonly Variant[]): Interceptor {
  const variants = typeof calls === 'number' ? Array.from({ length: calls }, () => same) : calls;
  return (call) => async (request) => {
    const pending = variants.map(async (vary) => begun(await call(vary(request))));
    const replies = await allOrNone(pending);
    for (const { events } of replies) events.stop();
    return join(replies);
  };
}

const same: Variant = (request) => request;

interface BegunReply extends ModelReply {
  readonly events: ReadAhead;
}

function begun(reply: ModelReply): BegunReply {
  return { ...reply, events: new ReadAhead(reply.events) };
}

/** Slot, status and headers are those of the first call. */
function join(replies: readonly ModelReply[]): ModelReply {
  const [first] = replies;
  if (!first) throw new RangeError('A fan-out needs at least one call.');
  return {
    ...first,
    attempts: replies.reduce((sum, { attempts }) => sum + attempts, 0),
    calls: (choice) => replies[choice]?.calls?.(0) ?? 1,
    events: mergeEvents(replies.map(({ events }) => events)),
  };
}

/** All replies; where a call fails its error at once, and the others end as soon as they are there. */
async function allOrNone(pending: readonly Promise<BegunReply>[]): Promise<readonly BegunReply[]> {
  try {
    return await Promise.all(pending);
  } catch (error) {
    for (const reply of pending) reply.then(({ events }) => events.return()).catch(ignore);
    throw error;
  }
}

/** Ignores later failures: only the first one is reported. */
function ignore(): void {}
