import type { SlotCall } from 'gw2api/plugin';
import { isScopeFlag } from '../shared/beta-fields.js';
import { fittedCall, type FittedCall } from '../shared/messages-call.js';
import type { MessagesOptions } from './options.js';

const betaHeader = 'anthropic-beta';

export interface MessagesCall extends FittedCall {
  readonly headers: SlotCall['headers'];
}

/** Request of a call with its headers, as far as the service of the slot takes them. */
export function messagesRequest(call: SlotCall, { cacheScope, ...features }: MessagesOptions): MessagesCall {
  const { [betaHeader]: betas, ...others } = call.headers;
  const flags = betas === undefined || cacheScope ? [] : betas.split(',').map((flag) => flag.trim());
  const left = flags.filter(isScopeFlag);
  const fitted = fittedCall(call, { ...features, leftOutFlags: left });
  if (left.length === 0) return { ...fitted, headers: call.headers };
  const kept = flags.filter((flag) => !isScopeFlag(flag)).join(',');
  return {
    ...fitted,
    headers: kept === '' ? others : { ...others, [betaHeader]: kept },
    losses: [
      ...left.map((flag) => ({ path: `anthropic-beta: ${flag}`, kind: 'mend' }) as const),
      ...fitted.losses,
    ],
  };
}
