import { isGatewayError } from '../contract/error.js';
import { deltaText } from './text/delta-text.js';
import type { ModelEvent } from './events.js';

/**
 * Meter of the output that has arrived: the bytes of its deltas without their envelope, which is measured at the first
 * delta of each block. No other delta is parsed for it.
 */
export class OutputMeter {
  #bytes = 0;
  #envelope: number | undefined;

  /** UTF-8 bytes of the output in all deltas. */
  get bytes(): number {
    return Math.max(0, this.#bytes);
  }

  add(event: ModelEvent): void {
    if (event.type === 'content_block_delta')
      this.#bytes += event.size - (this.#envelope ??= envelopeOf(event));
    else if (event.type === 'content_block_start') this.#envelope = undefined;
  }
}

/** Size of a delta without its output; the whole size of an invalid one, which its reader refuses. */
function envelopeOf(event: ModelEvent): number {
  if (!event.isReceived) return 0;
  try {
    const { json } = event;
    const text = json.type === 'content_block_delta' ? deltaText(json.delta) : '';
    return event.size - (Buffer.byteLength(JSON.stringify(text)) - '""'.length);
  } catch (error) {
    if (isGatewayError(error)) return event.size;
    throw error;
  }
}
