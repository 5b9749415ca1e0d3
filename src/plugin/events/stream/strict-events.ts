import { batchFault } from './batch-fault.js';
import type { ModelEventBatch } from '../events.js';
import type { Transform } from './stream-step.js';

/**
 * Passes the events of a stage on. Throws for anything else, and for an answer that ends without message_stop, for
 * example if a transform has returned nothing.
 */
export class StrictEvents implements Transform {
  #hasStopped = false;

  transform(batch: ModelEventBatch): ModelEventBatch {
    const fault = batchFault(batch);
    if (fault) throw fault;
    for (const event of batch) {
      if (!isEvent(event))
        throw ownFault(`returned ${textOf(event)} among its events; ModelEvent.of(…) makes one.`);
      this.#hasStopped ||= event.type === 'message_stop';
    }
    return batch;
  }

  flush(): undefined {
    if (!this.#hasStopped)
      throw ownFault('ended an answer without message_stop; does its transform return the events?');
  }
}

/** True for an event of this package or of another copy of it. */
function isEvent(event: unknown): boolean {
  if (typeof event !== 'object' || event === null || !('json' in event)) return false;
  return 'type' in event && typeof event.type === 'string';
}

function textOf(event: unknown): string {
  const json: unknown = typeof event === 'object' && event !== null && 'json' in event ? event.json : event;
  try {
    return JSON.stringify(json)?.slice(0, maxChars) ?? typeof json;
  } catch {
    return 'something other than JSON';
  }
}

const maxChars = 100;

/** Error without frames: the transform has returned, so they would name the modules around it. */
function ownFault(message: string): TypeError {
  const error = new TypeError(`The stage ${message}`);
  error.stack = `TypeError: ${error.message}`;
  return error;
}
