import type { Static } from 'typebox';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { Closed } from '../../kit/schema/type.js';
import { durationMs, GatewayError, Type, type ProtocolKey } from '../../plugin/index.js';
import type { KeyPatch } from '../../state/store/contract/store.js';
import { reservedNames } from '../../engine/pipeline/order/caller-patterns.js';
import { refuseUncountedBudget } from './budgets.js';
import { invalid } from '../../operator/check.js';
import { refusePast } from '../../operator/expiry.js';
import type { Names } from '../../operator/names.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { issueKey, makeKeySecret } from '../../state/keys/keys.js';
import {
  ChangedKey,
  ChangedKeyReport,
  defaultGrace,
  IssuedKey,
  keyReport,
  KeyReport,
  ListedKey,
  NewKey,
  Rotation,
  toPatch,
} from './key-report.js';
import type { Gateway } from '../../gateway/gateway.js';
import { route, type Route } from '../../operator/route.js';
import { refuseRotation } from './rotation.js';
import { ListOf } from '../../operator/schemas.js';
import { teamIdOf } from '../../operator/team-id.js';
import { unknownModels } from './unknown-models.js';

/** Routes of `/api/panel/keys`. */
export const keyRoutes: RoutesOf = (gateway, { names }) => {
  const editor = new KeyEditor(gateway, names);
  return [
    route({
      method: 'GET',
      path: '/api/panel/keys',
      summary: 'All protocol keys, newest first; never the keys themselves.',
      answers: { 200: ListOf(ListedKey, {}) },
      handle: () => editor.list(),
    }),
    route({
      method: 'POST',
      path: '/api/panel/keys',
      summary: 'Issues a key: `key` is shown only in this answer.',
      body: NewKey,
      audit: 'key.create',
      answers: { 201: IssuedKey },
      handle: async ({ body, audit }) => {
        const fields = await editor.checked({ ...toPatch(body), name: body.name });
        return editor.issue(issueKey(fields, gateway.services.now()), audit);
      },
    }),
    ...changeRoutes(editor),
    rotateRoute(editor),
  ];
};

function changeRoutes(editor: KeyEditor): readonly Route[] {
  return [
    route({
      method: 'PATCH',
      path: '/api/panel/keys/:id',
      summary: 'Changes a key by a merge patch: null removes a field; `revoked_at: null` admits it again.',
      body: ChangedKey,
      audit: 'key.update',
      answers: { 200: ChangedKeyReport },
      handle: async ({ id, body, audit }) => {
        const report = await editor.change(id, await editor.checked(toPatch(body)), audit);
        return { ...report, unknown_models: editor.unknownModels(report) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/keys/:id',
      summary: 'Revokes a key; with `purge=true` it is deleted permanently.',
      query: Closed({ purge: Type.Optional(Type.Boolean()) }),
      audit: 'key.revoke',
      answers: { 200: KeyReport, 204: null },
      handle: ({ id, query, audit }) => (query.purge ? editor.purge(id, audit) : editor.revoke(id, audit)),
    }),
  ];
}

function rotateRoute(editor: KeyEditor): Route {
  return route({
    method: 'POST',
    path: '/api/panel/keys/:id/rotate',
    summary: 'Gives a key a new secret, keeping everything else: `key` is shown only in this answer.',
    body: Rotation,
    audit: 'key.rotate',
    answers: { 200: IssuedKey },
    handle: ({ id, body: { grace = defaultGrace }, audit }) =>
      editor.rotate(id, { ...makeKeySecret(), grace }, audit),
  });
}

/** A new secret of a key, and how long the one before is accepted. */
interface NewSecret extends ReturnType<typeof makeKeySecret> {
  /** A duration, `24h`. */
  readonly grace: string;
}

type Report = Static<typeof KeyReport>;
type Issued = Static<typeof IssuedKey>;

/** Issues, changes and removes keys. */
class KeyEditor {
  readonly #gateway: Gateway;
  readonly #names: Names;

  constructor(gateway: Gateway, names: Names) {
    this.#gateway = gateway;
    this.#names = names;
  }

  async list(): Promise<object> {
    const { keys, responses } = this.#gateway.services.store;
    const [listed, totals] = await Promise.all([keys.list(), responses.totals()]);
    const data = listed.slice(0, maxKeys).map((key) => ({
      ...keyReport(key, this.#gateway.services.now()),
      stored_responses: totals.get(key.id) ?? null,
    }));
    return { object: 'list', data };
  }

  /**
   * The fields with the id of their team, which may be named. Throws `invalid_request` for an unknown team and for a name
   * that other callers have, and `conflict` for a budget that nothing counts.
   */
  async checked<Fields extends KeyPatch>(fields: Fields): Promise<Fields> {
    refuseUncountedBudget(this.#gateway, fields);
    const { name, team } = fields;
    if (name !== undefined && reservedNames.has(name))
      throw invalid([`name: "${name}" refers to other callers in the config; give the key another name`]);
    if (typeof team !== 'string') return fields;
    const id = await teamIdOf(this.#gateway.services.store, team);
    if (id === undefined) throw invalid([`team: unknown team ${JSON.stringify(team)}`]);
    return { ...fields, team: id };
  }

  unknownModels({ models }: Pick<Report, 'models'>): string[] {
    return [...unknownModels(models ?? [], this.#gateway)];
  }

  async issue({ text, key }: ReturnType<typeof issueKey>, audit: AuditedAction): Promise<Issued> {
    const { keys } = this.#gateway.services.store;
    refusePast(key.expiresAtMs, this.#gateway.services.now());
    if ((await keys.list()).length >= maxKeys)
      throw new GatewayError('conflict', `There are already ${maxKeys} keys; delete some permanently first.`);
    await keys.put(key);
    this.#changed();
    audit.target = key.id;
    audit.change(undefined, this.#report(key));
    return this.#withText(key, text);
  }

  async change(id: string, patch: KeyPatch, audit: AuditedAction): Promise<Report> {
    const { keys } = this.#gateway.services.store;
    const before = await keys.get(id);
    refusePast(patch.expiresAtMs, this.#gateway.services.now(), before?.expiresAtMs);
    const key = before && (await keys.update(id, patch));
    if (!key) throw noSuchKey(id);
    this.#changed(key.revokedAtMs === undefined ? [] : hashesOf(key));
    audit.change(this.#report(before), this.#report(key));
    return this.#report(key);
  }

  /** Gives a key a new secret. Throws as `refuseRotation`. */
  async rotate(id: string, { text, secret, grace }: NewSecret, audit: AuditedAction): Promise<Issued> {
    const { store, now } = this.#gateway.services;
    const [nowMs, graceMs] = [now(), durationMs(grace)];
    const before = await store.keys.get(id);
    if (!before) throw noSuchKey(id);
    refuseRotation(before, graceMs, nowMs);
    const key = await store.keys.rotate(id, secret, nowMs + graceMs);
    if (!key) throw noSuchKey(id);
    this.#changed(hashesOf(before).filter((hash) => !hashesOf(key).includes(hash)));
    audit.change(this.#report(before), this.#report(key));
    audit.note({ grace });
    return this.#withText(key, text);
  }

  /** Revokes a key; one that is revoked already keeps its time. */
  async revoke(id: string, audit: AuditedAction): Promise<Report> {
    const { store, now } = this.#gateway.services;
    const key = await store.keys.get(id);
    if (!key) throw noSuchKey(id);
    return this.change(id, { revokedAtMs: key.revokedAtMs ?? now() }, audit);
  }

  async purge(id: string, audit: AuditedAction): Promise<undefined> {
    const { keys } = this.#gateway.services.store;
    const key = await keys.get(id);
    if (!key || !(await keys.delete(id))) throw noSuchKey(id);
    this.#changed(hashesOf(key));
    audit.change(this.#report(key), undefined);
    audit.note({ purged: true });
    return undefined;
  }

  #withText(key: ProtocolKey, text: string): Issued {
    const report = this.#report(key);
    return { ...report, unknown_models: this.unknownModels(report), key: text };
  }

  #report(key: ProtocolKey): Report {
    return keyReport(key, this.#gateway.services.now());
  }

  #changed(ended: readonly string[] = []): void {
    this.#names.forget();
    this.#gateway.services.keysChanged(...ended);
  }
}

/** Hashes of all secrets of a key. */
function hashesOf({ hash, formerSecrets = [] }: ProtocolKey): readonly string[] {
  return [hash, ...formerSecrets.map((secret) => secret.hash)];
}

/** Max number of keys, so that the list of all keys stays small enough to send. */
const maxKeys = 10_000;

function noSuchKey(id: string): GatewayError {
  return new GatewayError('not_found', `Unknown key ${JSON.stringify(id)}.`);
}
