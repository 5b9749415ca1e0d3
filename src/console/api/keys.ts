import type { Static } from 'typebox';
import type { AuditedAction } from '../../audit/audited-action.js';
import {
  Closed,
  GatewayError,
  reservedNames,
  Type,
  type KeyPatch,
  type ProtocolKey,
} from '../../plugin/internal.js';
import { refuseUncountedBudget } from './budgets.js';
import { invalid } from './check.js';
import type { Names } from './names.js';
import {
  ChangedKey,
  ChangedKeyReport,
  IssuedKey,
  keyReport,
  KeyReport,
  ListedKey,
  NewKey,
  toPatch,
} from './key-report.js';
import type { Panel } from './panel.js';
import { route, type PanelRoute } from './route.js';
import { ListOf } from './schemas.js';
import { teamIdOf } from './team-id.js';
import { unknownModels } from './unknown-models.js';

/** Issues a key: returns its text, to be shown once, and the record to store. */
export type IssueKey = (
  fields: KeyPatch & { readonly name: string },
  nowMs: number,
) => { readonly text: string; readonly key: ProtocolKey };

/** Routes of `/api/panel/keys`. */
export function keyRoutes(panel: Panel, names: Names, issueKey: IssueKey): readonly PanelRoute[] {
  const desk = new KeyEditor(panel, names);
  return [
    route({
      method: 'GET',
      path: '/keys',
      summary: 'All protocol keys, newest first; never the keys themselves.',
      answers: { 200: ListOf(ListedKey, {}) },
      handle: () => desk.list(),
    }),
    route({
      method: 'POST',
      path: '/keys',
      summary: 'Issues a key: `key` is shown here and never again.',
      body: NewKey,
      audit: 'key.create',
      answers: { 201: IssuedKey },
      handle: async ({ body, audit }) => {
        const fields = await desk.checked({ ...toPatch(body), name: body.name });
        return desk.issue(issueKey(fields, panel.now()), audit);
      },
    }),
    ...changeRoutes(desk),
  ];
}

function changeRoutes(desk: KeyEditor): readonly PanelRoute[] {
  return [
    route({
      method: 'PATCH',
      path: '/keys/:id',
      summary:
        'Changes a key by a merge patch: null takes a field away; `revoked_at: null` lets it in again.',
      body: ChangedKey,
      audit: 'key.update',
      answers: { 200: ChangedKeyReport },
      handle: async ({ id, body, audit }) => {
        const report = await desk.change(id, await desk.checked(toPatch(body)), audit);
        return { ...report, unknown_models: desk.unknownModels(report) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/keys/:id',
      summary: 'Revokes a key; with `purge=true` it is removed for good.',
      query: Closed({ purge: Type.Optional(Type.Boolean()) }),
      audit: 'key.revoke',
      answers: { 200: KeyReport, 204: null },
      handle: ({ id, query, audit }) => (query.purge ? desk.purge(id, audit) : desk.revoke(id, audit)),
    }),
  ];
}

type Report = Static<typeof KeyReport>;

/** Issues, changes and removes keys. */
class KeyEditor {
  readonly #panel: Panel;
  readonly #names: Names;

  constructor(panel: Panel, names: Names) {
    this.#panel = panel;
    this.#names = names;
  }

  async list(): Promise<object> {
    const { keys, responses } = this.#panel.store;
    const [listed, totals] = await Promise.all([keys.list(), responses.totals()]);
    const data = listed.slice(0, maxKeys).map((key) => ({
      ...keyReport(key),
      stored_responses: totals.get(key.id) ?? null,
    }));
    return { object: 'list', data };
  }

  /**
   * The fields with the id of their team, which may be named. Throws `invalid_request` for an unknown team and for a name
   * that other callers have, and `conflict` for a budget that nothing counts.
   */
  async checked<Fields extends KeyPatch>(fields: Fields): Promise<Fields> {
    refuseUncountedBudget(this.#panel, fields);
    const { name, team } = fields;
    if (name !== undefined && reservedNames.has(name))
      throw invalid([`name: "${name}" stands for other callers in the config; give the key another name`]);
    if (typeof team !== 'string') return fields;
    const id = await teamIdOf(this.#panel.store, team);
    if (id === undefined) throw invalid([`team: unknown team ${JSON.stringify(team)}`]);
    return { ...fields, team: id };
  }

  unknownModels({ models }: Pick<Report, 'models'>): string[] {
    return [...unknownModels(models ?? [], this.#panel)];
  }

  async issue({ text, key }: ReturnType<IssueKey>, audit: AuditedAction): Promise<Static<typeof IssuedKey>> {
    const { keys } = this.#panel.store;
    if ((await keys.list()).length >= maxKeys)
      throw new GatewayError('conflict', `There are ${maxKeys} keys already; remove some for good first.`);
    await keys.put(key);
    this.#changed();
    audit.target = key.id;
    audit.change(undefined, keyReport(key));
    const report = keyReport(key);
    return { ...report, unknown_models: this.unknownModels(report), key: text };
  }

  async change(id: string, patch: KeyPatch, audit: AuditedAction): Promise<Report> {
    const { keys } = this.#panel.store;
    const before = await keys.get(id);
    const key = before && (await keys.update(id, patch));
    if (!key) throw noSuchKey(id);
    this.#changed(key.revokedAtMs === undefined ? undefined : key.hash);
    audit.change(keyReport(before), keyReport(key));
    return keyReport(key);
  }

  /** Revokes a key; one that is revoked already keeps its time. */
  async revoke(id: string, audit: AuditedAction): Promise<Report> {
    const { store, now } = this.#panel;
    const key = await store.keys.get(id);
    if (!key) throw noSuchKey(id);
    return this.change(id, { revokedAtMs: key.revokedAtMs ?? now() }, audit);
  }

  async purge(id: string, audit: AuditedAction): Promise<undefined> {
    const { keys } = this.#panel.store;
    const key = await keys.get(id);
    if (!key || !(await keys.delete(id))) throw noSuchKey(id);
    this.#changed(key.hash);
    audit.change(keyReport(key), undefined);
    audit.note({ purged: true });
    return undefined;
  }

  #changed(revoked?: string): void {
    this.#names.forget();
    this.#panel.keysChanged(revoked);
  }
}

/** Max number of keys, so that the list of all keys stays small enough to send. */
const maxKeys = 10_000;

function noSuchKey(id: string): GatewayError {
  return new GatewayError('not_found', `There is no key ${JSON.stringify(id)}.`);
}
