import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { schemaOptions } from '../shared/messages/schema-options.js';
import { serverToolsOption } from '../shared/messages/server-tools.js';

/** Options of a slot of the kind `messages`: what its service has of the API. */
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
