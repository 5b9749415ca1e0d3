import { Type, type Static } from 'typebox';
import { GatewayError, Time, timeMs, type KeyPatch, type ProtocolKey } from '../plugin/index.js';
import type { KeyNames } from './key-names.js';
import type { Panel } from './panel.js';
import { route, type PanelRoute } from './route.js';
import { Closed, IsoTime, Line, ListOf, Nullable } from './schemas.js';
import { isoTime } from './times.js';

/** How keys come into the world: the text to be shown once, and what is kept of it. */
export type IssueKey = (
  fields: KeyPatch & { readonly name: string },
  nowMs: number,
) => { readonly text: string; readonly key: ProtocolKey };

/** `/api/panel/keys`. */
export function keyRoutes(panel: Panel, names: KeyNames, issueKey: IssueKey): readonly PanelRoute[] {
  const { store } = panel;
  const changed = () => {
    names.forget();
    panel.keysChanged();
  };
  const update = async (id: string, patch: KeyPatch) => {
    const key = await store.keys.update(id, patch);
    if (!key) throw noSuchKey(id);
    changed();
    return keyReport(key);
  };
  return [
    route({
      method: 'GET',
      path: '/keys',
      summary: 'All protocol keys, newest first; never the keys themselves.',
      answers: { 200: ListOf(KeyReport, {}) },
      handle: async () => ({
        object: 'list',
        data: (await store.keys.list()).slice(0, mostKeys).map(keyReport),
      }),
    }),
    route({
      method: 'POST',
      path: '/keys',
      summary: 'Issues a key: `key` is shown here and never again.',
      body: NewKey,
      answers: { 201: IssuedKey },
      async handle({ body }) {
        if ((await store.keys.list()).length >= mostKeys)
          throw new GatewayError(
            'conflict',
            `There are ${mostKeys} keys already; remove some for good first.`,
          );
        const { text, key } = issueKey({ ...toPatch(body), name: body.name }, panel.now());
        await store.keys.put(key);
        changed();
        return { ...keyReport(key), key: text };
      },
    }),
    route({
      method: 'PATCH',
      path: '/keys/:id',
      summary:
        'Changes a key by a merge patch: null takes a field away; `revoked_at: null` lets it in again.',
      body: ChangedKey,
      answers: { 200: KeyReport },
      handle: ({ id, body }) => update(id, toPatch(body)),
    }),
    route({
      method: 'DELETE',
      path: '/keys/:id',
      summary: 'Revokes a key; with `purge=true` it is removed for good.',
      query: Closed({ purge: Type.Optional(Type.Boolean()) }),
      answers: { 200: KeyReport, 204: null },
      async handle({ id, query }) {
        if (!query.purge)
          return update(id, { revokedAtMs: (await find(panel, id)).revokedAtMs ?? panel.now() });
        if (!(await store.keys.delete(id))) throw noSuchKey(id);
        changed();
        return undefined;
      },
    }),
  ];
}

/** So that the list of all keys stays one that can be sent. */
const mostKeys = 10_000;

const Limit = Type.Integer({ minimum: 1, maximum: 1e12 });

const settable = {
  expires_at: Type.Optional(Nullable(Time())),
  models: Type.Optional(Nullable(Type.Array(Line, { minItems: 1, maxItems: 200 }))),
  requests_per_minute: Type.Optional(Nullable(Limit)),
  tokens_per_minute: Type.Optional(Nullable(Limit)),
  tokens_per_day: Type.Optional(Nullable(Limit)),
  tokens_per_month: Type.Optional(Nullable(Limit)),
  note: Type.Optional(Nullable(Type.String({ maxLength: 2000, pattern: '^[^\\u0000]*$' }))),
};

const NewKey = Closed({ name: Line, ...settable });

const ChangedKey = Closed({
  name: Type.Optional(Line),
  ...settable,
  revoked_at: Type.Optional(Nullable(Time())),
});

const reported = {
  id: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  created_at: IsoTime,
  last_used_at: Nullable(IsoTime),
  expires_at: Nullable(IsoTime),
  revoked_at: Nullable(IsoTime),
  models: Nullable(Type.Array(Type.String())),
  requests_per_minute: Nullable(Type.Integer()),
  tokens_per_minute: Nullable(Type.Integer()),
  tokens_per_day: Nullable(Type.Integer()),
  tokens_per_month: Nullable(Type.Integer()),
  note: Nullable(Type.String()),
};

const KeyReport = Type.Object(reported);
const IssuedKey = Type.Object({ ...reported, key: Type.String() });

function keyReport(key: ProtocolKey): Static<typeof KeyReport> {
  return {
    id: key.id,
    name: key.name,
    last4: key.last4,
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: isoTime(key.lastUsedAtMs),
    expires_at: isoTime(key.expiresAtMs),
    revoked_at: isoTime(key.revokedAtMs),
    models: key.models ? [...key.models] : null,
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    tokens_per_day: key.tokensPerDay ?? null,
    tokens_per_month: key.tokensPerMonth ?? null,
    note: key.note ?? null,
  };
}

/** What is written in the body, and nothing of what is not. */
function toPatch(body: Static<typeof ChangedKey>): KeyPatch {
  const { expires_at: expiresAt, revoked_at: revokedAt, name, models, note } = body;
  const patch: { [Field in keyof KeyPatch]?: KeyPatch[Field] | undefined } = {
    name,
    models,
    note,
    expiresAtMs: momentOf(expiresAt),
    revokedAtMs: momentOf(revokedAt),
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    tokensPerDay: body.tokens_per_day,
    tokensPerMonth: body.tokens_per_month,
  };
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function momentOf(time: string | number | null | undefined): number | null | undefined {
  return time === null || time === undefined ? time : timeMs(time);
}

async function find(panel: Panel, id: string): Promise<ProtocolKey> {
  const key = await panel.store.keys.get(id);
  if (!key) throw noSuchKey(id);
  return key;
}

function noSuchKey(id: string): GatewayError {
  return new GatewayError('not_found', `There is no key ${JSON.stringify(id)}.`);
}
