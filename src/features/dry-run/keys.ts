import { issueKey } from '../../state/keys/keys.js';
import { limitWindow, windowLimits, type Clock, sendsKey } from '../../plugin/index.js';
import { toMeter, type LimitHolder, type Meters } from '../../plugin/core.js';
import type { Store } from '../../state/store/contract/store.js';
import type { DryRequest } from './outcome.js';
import type { DrySettings, UsedLimits } from './settings.js';
import { masterKey } from './world.js';
import { minuteMs } from '../../kit/time/clock.js';

/** Name of the key that may use `/admin` and the console's API. */
export const masterName = 'master';

/** Name of the default key of requests. */
export const defaultName = 'test';

interface Surroundings {
  readonly store: {
    readonly keys: Pick<Store['keys'], 'put'>;
    readonly teams: Pick<Store['teams'], 'put'>;
  };
  readonly meters: Pick<Meters, 'open'>;
  readonly clock: Clock;
}

/** Keys of a dry run by name, each issued when it is first used, with its team. */
export class DryKeys {
  readonly #terms: Pick<DrySettings, 'keys' | 'teams'>;
  readonly #surroundings: Surroundings;
  readonly #texts = new Map<string, Promise<string>>();
  /** Ids of the teams that have been made, by name. */
  readonly #teams = new Map<string, Promise<string>>();

  constructor(terms: Pick<DrySettings, 'keys' | 'teams'>, surroundings: Surroundings) {
    this.#terms = terms;
    this.#surroundings = surroundings;
  }

  /** Headers of a request in lower case, with its key unless it sends one of its own. */
  async headersOf({
    key = defaultName,
    headers = {},
  }: DryRequest): Promise<Readonly<Record<string, string>>> {
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    if (key === null || sendsKey(lower)) return lower;
    return { 'x-api-key': await this.#textOf(key), ...lower };
  }

  #textOf(name: string): Promise<string> {
    const text = this.#texts.get(name) ?? (name === masterName ? this.#master() : this.#issue(name));
    this.#texts.set(name, text);
    return text;
  }

  async #issue(name: string): Promise<string> {
    const { store, clock } = this.#surroundings;
    const { used, team: teamName, ...given } = this.#terms.keys?.[name] ?? {};
    const team = teamName === undefined ? undefined : await this.#teamId(teamName);
    const { text, key } = issueKey({ ...given, ...(team !== undefined && { team }), name }, clock.now());
    const { id = key.id } = given;
    await store.keys.put({ ...key, id });
    await this.#use({ kind: 'key', id }, used);
    return text;
  }

  async #master(): Promise<string> {
    await this.#use({ kind: 'key', id: masterName }, this.#terms.keys?.[masterName]?.used);
    return masterKey;
  }

  #teamId(name: string): Promise<string> {
    const id = this.#teams.get(name) ?? this.#makeTeam(name);
    this.#teams.set(name, id);
    return id;
  }

  async #makeTeam(name: string): Promise<string> {
    const { store, clock } = this.#surroundings;
    const terms = this.#terms.teams?.[name];
    if (!terms)
      throw new Error(`Unknown team ${JSON.stringify(name)}: it is not among the teams of this run.`);
    const { used, id = `team_${name}`, ...limits } = terms;
    await store.teams.put({ ...limits, id, name, createdAtMs: clock.now() });
    await this.#use({ kind: 'team', id }, used);
    return id;
  }

  /** Opens the windows of limits that have been used. */
  async #use(holder: LimitHolder, limits: UsedLimits = {}): Promise<void> {
    const { meters, clock } = this.#surroundings;
    const nowMs = clock.now();
    for (const limit of windowLimits) {
      const { used, resetsInMs } = limits[limit] ?? {};
      if (used === undefined) continue;
      const { meter, period } = limitWindow(limit, holder, nowMs);
      const lastsMs = resetsInMs ?? (period ? period.toMs - nowMs : minuteMs);
      await meters.open(meter, toMeter(limit, used), lastsMs);
    }
  }
}
