import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { GatewayError, windowLimits } from '../../plugin/index.js';
import type { Team } from '../../plugin/core.js';
import type { TeamPatch } from '../../state/store/contract/store.js';
import { refuseUncountedBudget } from './limit-fields.js';
import { refuseUnknownPipeline } from './pipeline-field.js';
import { usedLimits } from '../../gateway/used-limits.js';
import type { Names } from '../../operator/names.js';
import type { Gateway } from '../../gateway/gateway.js';
import { teamReport, teamSettings, type TeamReport } from './team-report.js';

type Report = Static<typeof TeamReport>;

/** Makes, changes and removes teams. */
export class TeamEditor {
  readonly #gateway: Gateway;
  readonly #names: Names;

  constructor(gateway: Gateway, names: Names) {
    this.#gateway = gateway;
    this.#names = names;
  }

  async list(): Promise<object> {
    const { teams } = this.#gateway.services.store;
    const [listed, keys] = await Promise.all([teams.list(), this.#keysByTeam()]);
    const data: Report[] = [];
    for (let at = 0; at < listed.length; at += readAtOnce) {
      const some = listed.slice(at, at + readAtOnce);
      data.push(...(await Promise.all(some.map((team) => this.#report(team, keys.get(team.id))))));
    }
    return { object: 'list', data };
  }

  async make(name: string, fields: TeamPatch, audit: AuditedAction): Promise<Report> {
    const { store, now } = this.#gateway.services;
    refuseUncountedBudget(this.#gateway, fields);
    refuseUnknownPipeline(this.#gateway, fields);
    if ((await store.teams.list()).length >= maxTeams)
      throw new GatewayError('conflict', `There are already ${maxTeams} teams; delete some first.`);
    const id = `team_${randomUUID()}`;
    const given = Object.entries(fields).filter(([, value]) => value !== null);
    const team: Team = { ...Object.fromEntries(given), id, name, createdAtMs: now() };
    await store.teams.put(team);
    this.#changed();
    audit.target = id;
    audit.change(undefined, teamSettings(team));
    return this.#report(team);
  }

  async change(id: string, patch: TeamPatch, audit: AuditedAction): Promise<Report> {
    const { teams } = this.#gateway.services.store;
    refuseUncountedBudget(this.#gateway, patch);
    refuseUnknownPipeline(this.#gateway, patch);
    const before = await teams.get(id);
    const team = before && (await teams.update(id, patch));
    if (!team) throw noSuchTeam(id);
    this.#changed();
    audit.change(teamSettings(before), teamSettings(team));
    return this.#report(team, (await this.#keysByTeam()).get(id));
  }

  async remove(id: string, audit: AuditedAction): Promise<undefined> {
    const { teams } = this.#gateway.services.store;
    const team = await teams.get(id);
    if (!team) throw noSuchTeam(id);
    if (!(await teams.delete(id))) throw hasKeys(team, (await this.#keysByTeam()).get(id) ?? []);
    this.#changed();
    audit.change(teamSettings(team), undefined);
    return undefined;
  }

  async #report(team: Team, keys: readonly string[] = []): Promise<Report> {
    const { services } = this.#gateway;
    const limits = windowLimits.filter((limit) => team[limit] !== undefined);
    const used = limits.length > 0 ? await usedLimits({ kind: 'team', id: team.id }, services, limits) : {};
    return teamReport(team, { keys: keys.length, used, nowMs: services.now() });
  }

  /** Names of the keys of each team. */
  async #keysByTeam(): Promise<ReadonlyMap<string, readonly string[]>> {
    const keys = new Map<string, string[]>();
    for (const { team, name } of await this.#gateway.services.store.keys.list()) {
      if (team === undefined) continue;
      const names = keys.get(team);
      if (names) names.push(name);
      else keys.set(team, [name]);
    }
    return keys;
  }

  #changed(): void {
    this.#names.forget();
    this.#gateway.services.keysChanged();
  }
}

/** Max number of teams, whose use is read for each list of them. */
const maxTeams = 1000;

/** Teams whose use is read at the same time. */
const readAtOnce = 20;

function noSuchTeam(id: string): GatewayError {
  return new GatewayError('not_found', `Unknown team ${JSON.stringify(id)}.`);
}

/** Error for a team with keys, which would be left with only their own limits. */
function hasKeys({ name }: Team, keys: readonly string[]): GatewayError {
  const named = keys.slice(0, maxNamed).map((key) => JSON.stringify(key));
  const more = keys.length > maxNamed ? ` and ${keys.length - maxNamed} more` : '';
  const cure = 'first move them to another team or delete them permanently, including revoked ones';
  const which = keys.length === 1 ? 'the key' : `${keys.length} keys:`;
  return new GatewayError(
    'conflict',
    `The team ${JSON.stringify(name)} has ${which} ${named.join(', ')}${more}; ${cure}.`,
  );
}

const maxNamed = 5;
