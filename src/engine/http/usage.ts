import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, stickyKey, usageBody } from '../../plugin/index.js';
import type { Slots } from '../../plugin/core.js';
import type { CoreState } from './exchange.js';

/** `GET /v1/usage`: windows of the sticky key's OAuth slot, else of the one to be picked (design §6). */
export function usageOf(slots: Slots, headers: IncomingHttpHeaders, { caller }: CoreState): object {
  const slot = slots.account(caller && stickyKey(caller.keyId, headers), caller);
  if (slot) return usageBody(slot.id, slot.windows);
  throw new GatewayError(
    'not_found',
    'No slot of this gateway has an OAuth account, so there are no usage windows.',
  );
}
