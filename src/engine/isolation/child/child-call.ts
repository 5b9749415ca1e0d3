import {
  EventStream,
  ModelEvent,
  type HostCallOptions,
  type MessagesRequest,
  type ModelReply,
} from '../../../plugin/index.js';
import type { GatewayPort } from '../wire/protocol.js';
import { requestNumbers } from './child-context.js';
import { requestChange } from './request-wire.js';

/** Whole answer of a model as the gateway sends it. */
interface WholeReply {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly events: readonly (readonly [type: string, data: string])[];
}

/** `host.call` of one set-up of the stage, made by the gateway. */
export function childCall(port: GatewayPort, instance: number) {
  let lastId = 0;
  return async (request: MessagesRequest, options: HostCallOptions): Promise<ModelReply> => {
    const { ctx, signal, ...terms } = options;
    const of = ctx && requestNumbers.get(ctx);
    if (ctx && of === undefined)
      throw new TypeError('host.call: ctx is not the context of a request of this stage.');
    const id = ++lastId;
    const leave = (): void => port.note('cancelCall', [instance, id]);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      const params = [instance, id, of ?? null, requestChange(undefined, request), terms];
      const { fields, events } = (await port.call('hostCall', params)) as WholeReply; // of the gateway
      const batch = events.map(([type, data]) => new ModelEvent(type, data));
      return { ...fields, events: EventStream.from(oneBatch(batch)) } as unknown as ModelReply; // the fields of a reply
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };
}

async function* oneBatch(batch: readonly ModelEvent[]): AsyncGenerator<readonly ModelEvent[]> {
  yield batch;
}
