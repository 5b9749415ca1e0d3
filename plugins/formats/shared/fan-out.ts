import {
  EventStream,
  ModelEvent,
  type MessagesRequest,
  type ModelCall,
  type ModelEventBatch,
  type ModelReply,
} from '@gw2api/gateway/plugin';
import { shareBytes } from '@gw2api/gateway/plugin/raw';

/** Makes one of several requests out of the one that the stages have prepared. */
export type Variant = (request: MessagesRequest) => MessagesRequest;

/**
 * Fan-out: makes several calls at once and merges them into one reply, in which the events of call `i` carry
 * choice `i`; the first failure ends the other calls and is thrown. Early replies are read ahead while the
 * others wait for their permits, up to `maxAheadBytes` together.
 */
export function fanOut(
  calls: number | readonly Variant[],
): (request: MessagesRequest, call: ModelCall) => Promise<ModelReply> {
  const variants = typeof calls === 'number' ? Array.from({ length: calls }, () => same) : calls;
  return async (request, call) => {
    let aheadBytes = 0;
    const hasRoom = (batch: ModelEventBatch) => (aheadBytes += ModelEvent.heldBytes(batch)) < maxAheadBytes;
    const shared = shareBytes(request);
    const pending = variants.map(async (vary) => {
      const reply = await call(vary(shared));
      const events = EventStream.from(reply.events);
      events.readAhead(hasRoom);
      return { ...reply, events };
    });
    return join(await allOrNone(pending));
  };
}

/** Max bytes read ahead, beyond which early calls keep their permits and the others wait for the queue's timeout. */
const maxAheadBytes = 64 * 1024 * 1024;

const same: Variant = (request) => request;

/** Slot, status and headers are those of the first call. */
function join(replies: readonly ModelReply[]): ModelReply {
  const [first] = replies;
  if (!first) throw new RangeError('A fan-out needs at least one call.');
  return {
    ...first,
    attempts: replies.reduce((sum, { attempts }) => sum + attempts, 0),
    calls: (choice) => replies[choice]?.calls?.(0) ?? 1,
    events: EventStream.merge(replies.map(({ events }) => events)),
  };
}

/** All replies; if a call fails throws its error at once, and ends the other calls as soon as they arrive. */
async function allOrNone(pending: readonly Promise<ModelReply>[]): Promise<readonly ModelReply[]> {
  try {
    return await Promise.all(pending);
  } catch (error) {
    for (const reply of pending) reply.then(({ events }) => events.cancel()).catch(ignore);
    throw error;
  }
}

/** Ignores later failures: only the first one is reported. */
function ignore(): void {}
