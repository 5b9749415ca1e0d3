import type { Static } from 'typebox';
import { call, pathOf, type List } from '../../../console/web/api/call.js';
import type {
  AdminScopeReport,
  AdminTokenReport,
  IssuedAdminToken as IssuedAdminTokenReport,
} from '../panel.js';

export type AdminToken = Static<typeof AdminTokenReport>;
export type AdminScope = Static<typeof AdminScopeReport>;
/** A new admin token with its secret text, sent only once. */
export type IssuedAdminToken = Static<typeof IssuedAdminTokenReport>;
interface AdminTokens extends List<AdminToken> {
  readonly scopes: readonly AdminScope[];
}
interface NewAdminToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

export const fetchAdminTokens = (signal?: AbortSignal) =>
  call<AdminTokens>('GET', '/admin-tokens', { signal });
export const issueAdminToken = (settings: NewAdminToken) =>
  call<IssuedAdminToken>('POST', '/admin-tokens', { body: settings });
export const revokeAdminToken = (id: string) => call<AdminToken>('DELETE', pathOf('/admin-tokens', id));
export const deleteAdminToken = (id: string) =>
  call<void>('DELETE', pathOf('/admin-tokens', id), { query: { purge: true } });
