import type { Static } from 'typebox';
import { adminScopeNames, adminScopes } from '../../operator/access/scopes.js';
import { Closed } from '../../kit/schema/type.js';
import { GatewayError, Type } from '../../plugin/index.js';
import { Time, timeMs } from '../../kit/schema/units.js';
import type { Services } from '../../gateway/services.js';
import { issueAdminToken } from '../../state/keys/admin-tokens.js';
import type { AdminToken } from '../../state/store/contract/admin-token.js';
import { refusePast } from '../../operator/expiry.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route, type Call } from '../../operator/route.js';
import { IsoTime, isoTime, Line, ListOf, Nullable } from '../../operator/schemas.js';

const reported = {
  id: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  scopes: Type.Array(Type.String()),
  created_by: Type.String({ description: 'Name of the operator who issued it.' }),
  created_at: IsoTime,
  expires_at: Nullable(IsoTime),
  last_used_at: Nullable(IsoTime),
  revoked_at: Nullable(IsoTime),
};

/** An admin token as sent by the console API. */
export const AdminTokenReport = Type.Object(reported);
/** An issued admin token with its secret text, sent only once. */
export const IssuedAdminToken = Type.Object({ ...reported, token: Type.String() });
/** A scope that a token may have. */
export const AdminScopeReport = Type.Object({ name: Type.String(), admits: Type.String() });

const NewAdminToken = Closed({
  name: Line,
  scopes: Type.Array(Type.Enum(adminScopeNames), { minItems: 1, maxItems: 50 }),
  expires_at: Type.Optional(Nullable(Time())),
});

/** Routes of `/api/panel/admin-tokens`, for admins alone. */
export const panelRoutes: RoutesOf = ({ services }) => {
  const { adminTokens } = services.store;
  return [
    route({
      method: 'GET',
      path: '/api/panel/admin-tokens',
      summary: 'All admin tokens, newest first, and the known scopes; never the tokens themselves.',
      role: 'admin',
      answers: { 200: ListOf(AdminTokenReport, { scopes: Type.Array(AdminScopeReport) }) },
      handle: async () => ({
        object: 'list',
        data: (await adminTokens.list()).map(tokenReport),
        scopes: Object.entries(adminScopes).map(([name, admits]) => ({ name, admits })),
      }),
    }),
    route({
      method: 'POST',
      path: '/api/panel/admin-tokens',
      summary: 'Issues an admin token for scripts: `token` is shown only in this answer.',
      body: NewAdminToken,
      audit: 'token.create',
      answers: { 201: IssuedAdminToken },
      handle: (call) => issueToken(call, services),
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/admin-tokens/:id',
      summary: 'Revokes an admin token; with `purge=true` it is deleted permanently.',
      query: Closed({ purge: Type.Optional(Type.Boolean()) }),
      audit: 'token.revoke',
      answers: { 200: AdminTokenReport, 204: null },
      handle: ({ id, query, audit }) =>
        query.purge ? purge(id, audit, services) : revoke(id, audit, services),
    }),
  ];
};

async function issueToken(
  { body, actor, audit }: Call<unknown, Static<typeof NewAdminToken>>,
  { store: { adminTokens }, keysChanged, now }: Services,
): Promise<Static<typeof IssuedAdminToken>> {
  const { name, expires_at: expiresAt } = body;
  const expiresAtMs = expiresAt === undefined || expiresAt === null ? undefined : timeMs(expiresAt);
  refusePast(expiresAtMs, now());
  if ((await adminTokens.list()).length >= maxTokens)
    throw new GatewayError(
      'conflict',
      `There are already ${maxTokens} admin tokens; delete some permanently.`,
    );
  const scopes = [...new Set(body.scopes)];
  const fields = { name, scopes, createdBy: actor.name, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  const { text, token } = issueAdminToken(fields, now());
  if (!(await adminTokens.add(token)))
    throw new GatewayError(
      'conflict',
      `An admin token "${name}" already exists. Choose another name: the audit log identifies tokens by it.`,
    );
  keysChanged();
  audit.target = token.id;
  audit.change(undefined, tokenReport(token));
  return { ...tokenReport(token), token: text };
}

type Audit = Call<unknown, unknown>['audit'];

async function revoke(
  id: string,
  audit: Audit,
  { store, keysChanged, now }: Services,
): Promise<Static<typeof AdminTokenReport>> {
  const before = await store.adminTokens.get(id);
  const after = before && (await store.adminTokens.revoke(id, now()));
  if (!after) throw noSuchToken(id);
  keysChanged(after.hash);
  audit.change(tokenReport(before), tokenReport(after));
  return tokenReport(after);
}

async function purge(id: string, audit: Audit, { store, keysChanged }: Services): Promise<undefined> {
  const token = await store.adminTokens.get(id);
  if (!token || !(await store.adminTokens.delete(id))) throw noSuchToken(id);
  keysChanged(token.hash);
  audit.change(tokenReport(token), undefined);
  audit.note({ purged: true });
}

function tokenReport(token: AdminToken): Static<typeof AdminTokenReport> {
  return {
    id: token.id,
    name: token.name,
    last4: token.last4,
    scopes: [...token.scopes],
    created_by: token.createdBy,
    created_at: new Date(token.createdAtMs).toISOString(),
    expires_at: isoTime(token.expiresAtMs),
    last_used_at: isoTime(token.lastUsedAtMs),
    revoked_at: isoTime(token.revokedAtMs),
  };
}

/** Max number of tokens, revoked ones included. */
const maxTokens = 200;

function noSuchToken(id: string): GatewayError {
  return new GatewayError('not_found', `Unknown admin token ${JSON.stringify(id)}.`);
}
