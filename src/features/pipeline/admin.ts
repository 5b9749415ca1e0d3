import { redactAddresses } from '../../kit/schema/redact-addresses.js';
import { maskedConfig } from '../../operator/masked-config.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { ListOf } from '../../operator/schemas.js';
import { Type } from '../../plugin/index.js';
import { reloadRoutes } from './reload-admin.js';

const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** Routes of the pipeline, the config and its reload. */
export const adminRoutes: RoutesOf = (gateway) => [
  route({
    method: 'GET',
    path: '/admin/pipeline',
    summary: 'The stages as they run, secrets blanked, and what operators should know of them.',
    scope: 'config:read',
    answers: { 200: ListOf(AnyObject, { notices: Type.Array(Type.String()) }) },
    handle() {
      const { stages, notices } = gateway.runtime.pipeline;
      return { object: 'list', data: redactAddresses(stages), notices };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/config',
    summary: 'The config as its file has it, secrets blanked.',
    scope: 'config:read',
    answers: { 200: AnyObject },
    handle: () => redactAddresses(maskedConfig(gateway.runtime, gateway.services.slots)),
  }),
  ...reloadRoutes(gateway),
];
