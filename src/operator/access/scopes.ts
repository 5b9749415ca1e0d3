import { GatewayError } from '../../plugin/index.js';

/** Scopes of admin tokens, with the requests that each admits. */
export const adminScopes = {
  '*': 'Everything that admin tokens may call, also what later versions add.',
  metrics: 'GET /metrics',
  'slots:read': 'GET /admin/slots',
  'slots:write': 'Pause, resume and drain slots.',
  'slots:diagnose': "Have a slot's name resolved, its upstream called and its credential checked.",
  'config:read': 'GET /admin/config, /admin/pipeline and /admin/reload, secrets masked.',
  'config:reload': 'POST /admin/reload, and commit or cancel its canary.',
  explain: 'Have requests explained, and read what was recorded of one.',
} as const;

export type AdminScope = Exclude<keyof typeof adminScopes, '*'>;

/** Names of all scopes. */
export const adminScopeNames = Object.keys(adminScopes);

/** Throws `forbidden` where an admin token lacks a scope. */
export function requireScope(
  { name, scopes }: { readonly name: string; readonly scopes: readonly string[] },
  needed: AdminScope,
): void {
  if (scopes.includes('*') || scopes.includes(needed)) return;
  const message = `The admin token "${name}" lacks the scope "${needed}"; it has ${scopes.join(', ')}.`;
  throw new GatewayError('forbidden', message);
}
