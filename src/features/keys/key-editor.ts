import type { Static } from 'typebox';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { durationMs, GatewayError, globMatcher, type ProtocolKey } from '../../plugin/index.js';
import type { KeyPatch } from '../../state/store/contract/store.js';
import { reservedNames } from '../../engine/pipeline/order/caller-patterns.js';
import { refuseUncountedBudget } from './limit-fields.js';
import { refuseUnknownPipeline } from './pipeline-field.js';
import { invalid } from '../../operator/check.js';
import { refusePast } from '../../operator/expiry.js';
import type { Names } from '../../operator/names.js';
import { issueKey, type makeKeySecret } from '../../state/keys/keys.js';
import { keyReport, type IssuedKey, type KeyReport } from './key-report.js';
import type { Gateway } from '../../gateway/gateway.js';
import { teamIdOf } from '../../operator/team-id.js';
import { maxFormerSecrets } from '../../state/store/key-rules.js';
import { dayMs } from '../../kit/time/clock.js';

/** A new secret of a key, and the grace period of the one before. */
interface NewSecret extends ReturnType<typeof makeKeySecret> {
  /** A duration, `24h`. */
  readonly grace: string;
}

type Report = Static<typeof KeyReport>;
type Issued = Static<typeof IssuedKey>;

/** Issues, changes and removes keys. */
export class KeyEditor {
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
   * The fields with the id of their team, which may be named. Throws `invalid_request` for an unknown team or pipeline and
   * for a name that other callers have, and `conflict` for a budget that no stage counts.
   */
  async checked<Fields extends KeyPatch>(fields: Fields): Promise<Fields> {
    refuseUncountedBudget(this.#gateway, fields);
    refuseUnknownPipeline(this.#gateway, fields);
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

  async issue(fields: Parameters<typeof issueKey>[0], audit: AuditedAction): Promise<Issued> {
    const { store, now } = this.#gateway.services;
    const { keys } = store;
    const { text, key } = issueKey(fields, now());
    refusePast(key.expiresAtMs, now());
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

  /** Revokes a key; an already revoked one keeps its time. */
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

/**
 * Throws `invalid_request` for too long a grace; `conflict` for a revoked or expired key, and if more than
 * `maxFormerSecrets` former secrets would work beside the new one.
 */
function refuseRotation(key: ProtocolKey, graceMs: number, nowMs: number): void {
  if (graceMs > maxGraceMs) throw invalid([`grace: must be at most ${maxGraceMs / dayMs}d`]);
  const { name, revokedAtMs, expiresAtMs = Infinity, formerSecrets = [] } = key;
  const state = revokedAtMs !== undefined ? 'is revoked' : expiresAtMs <= nowMs ? 'has expired' : undefined;
  if (state)
    throw new GatewayError(
      'conflict',
      `The key ${JSON.stringify(name)} ${state}: a new secret would not work either.`,
    );
  if (graceMs > 0 && formerSecrets.filter(({ endsAtMs }) => endsAtMs > nowMs).length >= maxFormerSecrets)
    throw new GatewayError(
      'conflict',
      `${maxFormerSecrets} former secrets of the key ${JSON.stringify(name)} still work; end them by a rotation with "grace": "0s", or wait.`,
    );
}

const maxGraceMs = 365 * dayMs;

/**
 * Models of a key, ids or globs, that are neither in the catalog nor in the list of a slot: misspelt, or served by a
 * slot that takes any name.
 */
function unknownModels(patterns: readonly string[], { runtime, services }: Gateway): readonly string[] {
  const served = services.slots.list().flatMap(({ serves }) => serves);
  const listed = served.filter((glob) => glob !== '*');
  const names = runtime.models.list().flatMap(({ id, aliases }) => [id, ...aliases]);
  const isListed = globMatcher(listed);
  return patterns.filter((pattern) => {
    const fits = globMatcher([pattern]);
    return !isListed(pattern) && ![...names, ...listed].some(fits);
  });
}
