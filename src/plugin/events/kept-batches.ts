import { GatewayError } from '../contract/error.js';
import { ModelEvent, type ModelEventBatch } from './events.js';

type Delivery = 'stream' | 'whole';

/** Buffer of the events before the commit point, bounded in memory. */
export class KeptBatches {
  readonly #delivery: Delivery;
  readonly #batches: ModelEventBatch[] = [];
  #bytes = 0;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  /** Throws `upstream_invalid_response` if the buffer exceeds its bound. */
  add(batch: ModelEventBatch): void {
    if (batch.length === 0) return;
    this.#bytes += ModelEvent.heldBytes(batch);
    if (this.#bytes > maxKeptBytes[this.#delivery]) throw tooLong(this.#delivery);
    this.#batches.push(batch);
  }

  /** All kept events and these as one batch. */
  with(batch: ModelEventBatch): ModelEventBatch {
    return this.#bytes === 0 ? batch : [...this.#batches, batch].flat();
  }
}

/** Max bytes kept: a stream is kept until its first content, a whole answer until its end. */
const maxKeptBytes = { stream: 1024 * 1024, whole: 64 * 1024 * 1024 } as const;

function tooLong(delivery: Delivery): GatewayError {
  const what = delivery === 'stream' ? 'before its first content' : 'in one answer';
  const message = `The upstream sent more than ${maxKeptBytes[delivery] / 1024 / 1024} MB ${what}.`;
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'foreign' } });
}
