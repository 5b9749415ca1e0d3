import type { Config } from '../../config/config.js';
import type { LoadedConfig } from '../../config/diff/loaded-config.js';
import { DryGateway } from '../dry-run/dry-gateway.js';
import type { DryOutcome, DryRequest } from '../dry-run/outcome.js';
import type { DrySettings, KeyTerms, TeamTerms } from '../dry-run/settings.js';
import type { OpenGateway } from '../../gateway/gateway.js';
import { loadPlugins } from '../../gateway/reload/loaded-config.js';
import { withAllExtras, type MessagesRequest } from '../../plugin/index.js';
import { withEntering, entryPlaces, withEntry, type EntryPlaces } from './entry.js';
import type { Recording } from './recorded-files.js';
import { masterName } from '../dry-run/keys.js';

/** Longest pause between two requests that is replayed; longer ones have no further effect. */
const maxPauseMs = 3_600_000;

/** One of the two configs, as dry gateways: one for each place at which recorded requests enter. */
export class Side {
  readonly #loaded: LoadedConfig;
  readonly #openGateway: OpenGateway;
  readonly #settings: DrySettings;
  readonly #gateways = new Map<string, Promise<DryGateway>>();
  /** Terms of the keys that are issued for recorded callers, and of their teams, by name. */
  readonly #keys: Record<string, KeyTerms> = {};
  readonly #teams: Record<string, TeamTerms> = {};

  private constructor(loaded: LoadedConfig, openGateway: OpenGateway, settings: DrySettings) {
    this.#loaded = loaded;
    this.#openGateway = openGateway;
    this.#settings = { ...settings, keys: this.#keys, teams: this.#teams };
  }

  /** Throws a ConfigError, and an Error for an unknown scenario. */
  static async open(config: Config, openGateway: OpenGateway, settings: DrySettings): Promise<Side> {
    const side = new Side(await loadPlugins(config), openGateway, settings);
    await side.#gateway(undefined);
    return side;
  }

  /** Sends a recorded request, after its recorded pause. */
  async send(recording: Recording): Promise<DryOutcome> {
    const gateway = await this.#gateway(this.#placesOf(recording));
    const pauseMs = Math.min(recording.atMs - gateway.nowMs, maxPauseMs);
    if (pauseMs > 0) await gateway.pass(pauseMs);
    this.#rememberKey(recording);
    const entering = recordedRequest(recording);
    const [outcome] = await withEntering(entering, () => gateway.send([requestOf(recording)]));
    if (!outcome) throw new Error('the dry run recorded nothing about the request');
    return outcome;
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways.values()) await (await gateway).close();
  }

  /** Gives the key of a recorded caller its team and its pipeline; a key is issued at its first request. */
  #rememberKey(recording: Recording): void {
    const { team, pipeline } = recording.caller;
    const name = keyOf(recording);
    if (name === null) return;
    if (team) this.#teams[team.name] ??= { id: team.id };
    this.#keys[name] ??= { ...(team && { team: team.name }), ...(pipeline !== undefined && { pipeline }) };
  }

  /** Undefined for a request that passes all stages. */
  #placesOf({ request, passed }: Recording): EntryPlaces | undefined {
    return request && entryPlaces(this.#loaded, passed);
  }

  #gateway(places: EntryPlaces | undefined): Promise<DryGateway> {
    const name = JSON.stringify(places ?? null);
    const known = this.#gateways.get(name);
    if (known) return known;
    const { config } = this.#loaded;
    const placed = places ? withEntry(config, places) : config;
    const opened = DryGateway.open(placed, this.#openGateway, this.#settings);
    this.#gateways.set(name, opened);
    return opened;
  }
}

/** Messages request of a recording, with its extras. */
function recordedRequest({ request, extras = [] }: Recording): MessagesRequest | undefined {
  return request && withAllExtras(request, extras);
}

/** Request to send for a recording: the recorded one, or the stand-in of a Messages request. */
function requestOf(recording: Recording): DryRequest {
  const { method, url, headers, body, request } = recording;
  const sent = { headers, key: keyOf(recording) };
  if (!request) return { ...sent, method, path: url, body };
  const isStreamed = recording.delivery === 'stream';
  const standIn = standIns[recording.format];
  // Of a format that is not built in only the Messages request is known.
  if (!standIn) return { ...sent, path: '/v1/messages', body: { ...request, stream: isStreamed } };
  return {
    ...sent,
    method,
    path: url,
    body: { model: request.model, stream: isStreamed, ...standIn(request) },
  };
}

/**
 * Bodies that the formats decode, so that the answer has the caller's format; the entry stage puts the recorded
 * request in their place.
 */
const standIns: Readonly<Record<string, (request: NonNullable<Recording['request']>) => object>> = {
  messages: (request) => request,
  chat: () => ({ messages: [{ role: 'user', content: '-' }] }),
  responses: () => ({ input: '-', store: false }),
  completions: () => ({ prompt: '-' }),
};

/** Name of the key to send it with; a key is issued by that name, without limits. */
function keyOf({ caller: { kind, keyId, name } }: Recording): string | null {
  if (kind === 'anonymous') return null;
  if (kind === 'master') return masterName;
  return name === masterName ? keyId : name;
}
