import { isRecord } from '../../kit/schema/record.js';
import type { Host, HostCallOptions } from '../../plugin/index.js';
import { withWireChange } from './live-request.js';
import { wireReplyFields } from './wire/protocol.js';

/** Calls of models by one set-up of an isolated stage, which the child may cancel. */
export class InstanceCalls {
  readonly #host: Host;
  readonly #open = new Map<number, AbortController>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Makes a call; the whole answer. `ctx`: of the request that it belongs to. */
  async make(id: number, ctx: HostCallOptions['ctx'], change: unknown, given: unknown): Promise<unknown> {
    const terms = isRecord(given) ? given : {};
    const { label, slots, headers, billTo } = terms;
    const ending = new AbortController();
    this.#open.set(id, ending);
    try {
      const options = {
        ...(ctx ? { ctx } : { billTo }),
        label,
        ...(slots !== undefined && { slots }),
        ...(isRecord(headers) && { headers }),
        signal: ending.signal,
      };
      // The host checks each of them.
      const reply = await this.#host.call(withWireChange(undefined, change), options as HostCallOptions);
      const events: (readonly [string, string])[] = [];
      for await (const batch of reply.events)
        for (const event of batch) events.push([event.type, event.data]);
      const fields = wireReplyFields.flatMap((name) =>
        reply[name] === undefined ? [] : [[name, reply[name]]],
      );
      return { fields: Object.fromEntries(fields) as object, events };
    } finally {
      this.#open.delete(id);
    }
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort();
  }
}
