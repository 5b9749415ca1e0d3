import { GatewayError } from '../../plugin/index.js';

/** Scopes of admin tokens, with the requests that each admits. */
export const adminScopes = {
  '*': 'Everything that admin tokens may call, including additions of later versions.',
  metrics: 'GET /metrics',
  'slots:read': 'GET /admin/slots',
  'slots:write': 'Pause, resume and drain slots.',
  'slots:diagnose': "Resolve a slot's name, call its upstream and check its credential.",
  'config:read': 'GET /admin/config, /admin/pipeline and /admin/reload, secrets masked.',
  'config:reload': 'POST /admin/reload, and commit or cancel its canary.',
  explain: 'Explain requests, and read the record of one.',
} as const;

export type AdminScope = Exclude<keyof typeof adminScopes, '*'>;

/** Names of all scopes. */
export const adminScopeNames = Object.keys(adminScopes);

/** Throws `forbidden` if an admin token lacks a scope. */
export function requireScope(
  { name, scopes }: { readonly name: string; readonly scopes: readonly string[] },
  needed: AdminScope,
): void {
  if (scopes.includes('*') || scopes.includes(needed)) return;
  const message = `The admin token "${name}" lacks the scope "${needed}"; it has ${scopes.join(', ')}.`;
  throw new GatewayError('forbidden', message);
}
