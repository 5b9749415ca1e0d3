import { Type, type SlotCall } from '@gw2api/gateway/plugin';
import { isScopeFlag } from '../shared/messages/beta-fields.js';
import { fittedCall, type FittedCall } from '../shared/messages/messages-call.js';
import type { Static } from 'typebox';
import { schemaOptions } from '../shared/messages/schema-options.js';
import { serverToolsOption } from '../shared/messages/server-tools.js';

/** Options of a slot of the kind `messages`: the supported parts of the API. */
export const messagesOptions = Type.Object(
  {
    serverTools: Type.Optional(serverToolsOption()),
    cacheTtl: Type.Boolean({
      default: true,
      description: 'Takes a ttl on cache markers; otherwise those that the gateway has set are left out.',
    }),
    cacheScope: Type.Boolean({
      default: true,
      description:
        'Takes a scope on cache markers; otherwise the scope and its beta flag are left out (Microsoft Foundry).',
    }),
    ...schemaOptions(true),
  },
  { title: 'Messages API' },
);

export type MessagesOptions = Static<typeof messagesOptions>;

const betaHeader = 'anthropic-beta';

export interface MessagesCall extends FittedCall {
  readonly headers: SlotCall['headers'];
}

/** Request of a call with its headers, as far as the service of the slot takes them. */
export function messagesRequest(call: SlotCall, options: MessagesOptions): MessagesCall {
  const { headers } = call;
  const betas = headers[betaHeader];
  const flags = betas === undefined || options.cacheScope ? [] : betas.split(',').map((flag) => flag.trim());
  const left = flags.filter(isScopeFlag);
  if (left.length === 0) {
    const { request, losses, leftOut, keys } = fittedCall(call, options);
    return { request, losses, leftOut, keys, headers };
  }
  const fitted = fittedCall(call, { ...options, leftOutFlags: left });
  const { [betaHeader]: _, ...others } = headers;
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
