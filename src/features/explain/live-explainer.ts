import type { GivenRequest } from '../../operator/given-request.js';
import type { Config, StageConfig } from '../../config/config.js';
import type { DrySettings } from '../dry-run/settings.js';
import type { Explanation } from './explanation.js';
import type { Plain, ThreadTask } from './thread-task.js';
import { GatewayError, keyLimits, type ProtocolKey } from '../../plugin/index.js';
import { usedLimits } from '../../gateway/used-limits.js';
import { ThreadHandle, IdleThread } from './thread-handle.js';
import type { Runtime } from '../../gateway/runtime.js';
import type { Services } from '../../gateway/services.js';

/** Max concurrent explanations in a process, and the time limit of each. */
const maxUnderWay = 2;
const timeoutMs = 10_000;

/** Gateway whose requests are explained. */
interface ExplainedGateway {
  readonly runtime: Runtime;
  readonly services: Services;
  readonly closing: AbortSignal;
}

/**
 * Explains requests in threads of their own, as the gateway would handle them now: by its config and the state of its
 * slots. No request is sent, and no limit is used.
 */
export class LiveExplainer {
  readonly #gateway: ExplainedGateway;
  readonly #idle: IdleThread;
  #underWay = 0;

  constructor(gateway: ExplainedGateway) {
    this.#gateway = gateway;
    const { services, closing } = gateway;
    this.#idle = new IdleThread(services.clock, closing);
  }

  /**
   * Explains the request that `read` returns once there is a place. Throws the errors of `read`, `rate_limited` while
   * too many are running, `not_found` for an unknown key, `conflict` if the config cannot run dry, and
   * `request_timeout`.
   */
  async explain(read: () => GivenRequest | Promise<GivenRequest>): Promise<Explanation> {
    if (this.#gateway.services.dry)
      throw new GatewayError('conflict', 'Explain is not available in a dry run.');
    if (this.#underWay >= maxUnderWay) throw tooMany();
    this.#underWay += 1;
    try {
      const { path, headers, body, as } = await read();
      const key = as === null || as === 'master' ? undefined : await this.#key(as);
      const { services, runtime } = this.#gateway;
      const { slots, state } = services.slots.snapshot(key?.id ?? 'master');
      const settings: DrySettings = {
        startMs: services.clock.now(),
        state,
        ...(await holdersOf(key, services)),
      };
      const request = { path, headers, body, key: key ? nameOf(key) : as };
      return await this.#run({ config: withoutFunctions({ ...runtime.config, slots }), request, settings });
    } finally {
      this.#underWay -= 1;
    }
  }

  async #key(as: string): Promise<ProtocolKey> {
    const { store, clock } = this.#gateway.services;
    const keys = await store.keys.list();
    const isGood = ({ revokedAtMs, expiresAtMs = Infinity }: ProtocolKey): boolean =>
      revokedAtMs === undefined && expiresAtMs > clock.now();
    const key = keys.find(({ id }) => id === as) ?? keys.find((key) => key.name === as && isGood(key));
    if (!key) throw new GatewayError('not_found', `Unknown key ${JSON.stringify(as)}.`);
    if (!isGood(key)) throw new GatewayError('conflict', `The key ${JSON.stringify(as)} is no longer valid.`);
    return key;
  }

  async #run(task: ThreadTask): Promise<Explanation> {
    const { closing, services } = this.#gateway;
    const thread = this.#idle.take() ?? new ThreadHandle();
    let stopTimer: (() => void) | undefined;
    let onClosing: (() => void) | undefined;
    try {
      const stopped = new Promise<never>((_, reject) => {
        stopTimer = services.clock.setTimer(() => reject(tooLate()), timeoutMs);
        onClosing = () => reject(new GatewayError('shutting_down', 'This gateway is shutting down.'));
        closing.addEventListener('abort', onClosing);
      });
      const answer = await Promise.race([thread.run(task), stopped]);
      this.#idle.keep(thread);
      if (answer.explanation) return answer.explanation;
      throw new GatewayError('conflict', `The request cannot be explained: ${answer.problem}`);
    } finally {
      stopTimer?.();
      if (onClosing) closing.removeEventListener('abort', onClosing);
      if (this.#idle.thread !== thread) await thread.end();
    }
  }
}

function tooMany(): GatewayError {
  const message = `${maxUnderWay} explanations are already running; wait for one of them.`;
  return new GatewayError('rate_limited', message, { headers: { 'retry-after': '1' } });
}

function tooLate(): GatewayError {
  return new GatewayError('request_timeout', `The explanation took more than ${timeoutMs / 1000} s.`);
}

/** Name of a key in a dry run; `master` is the master key. */
function nameOf({ id, name }: ProtocolKey): string {
  return name === 'master' ? id : name;
}

/** The key and its team for a dry run, with the use of their limits. */
async function holdersOf(
  key: ProtocolKey | undefined,
  services: Services,
): Promise<Pick<DrySettings, 'keys' | 'teams'>> {
  const used = await usedLimits(key && { kind: 'key', id: key.id }, services);
  if (!key) return { keys: { master: { used } } };
  const team = key.team === undefined ? undefined : await services.store.teams.get(key.team);
  const terms = { ...termsOf(key), used, ...(team && { team: team.name }) };
  if (!team) return { keys: { [nameOf(key)]: terms } };
  const shared = await usedLimits({ kind: 'team', id: team.id }, services);
  return {
    keys: { [nameOf(key)]: terms },
    teams: { [team.name]: { id: team.id, ...keyLimits(team), ...pipelineOf(team), used: shared } },
  };
}

function termsOf(key: ProtocolKey): NonNullable<DrySettings['keys']>[string] {
  const { id, models, slots } = key;
  return { id, ...keyLimits(key), ...(models && { models }), ...(slots && { slots }), ...pipelineOf(key) };
}

function pipelineOf({ pipeline }: Pick<ProtocolKey, 'pipeline'>): Pick<ProtocolKey, 'pipeline'> {
  return pipeline === undefined ? {} : { pipeline };
}

/** The config without the functions that find positions in its file, which cannot be sent to a thread. */
function withoutFunctions(config: Config): ThreadTask['config'] {
  const known = new Map<StageConfig, Plain<StageConfig>>();
  const once = (stage: StageConfig) => {
    const made = known.get(stage) ?? plain(stage);
    known.set(stage, made);
    return made;
  };
  return {
    ...config,
    pipeline: config.pipeline.map(once),
    pipelines: config.pipelines.map((pipeline) => ({
      ...plain(pipeline),
      entries: pipeline.entries.map((entry) => ({ ...entry, stages: entry.stages.map(once) })),
      stages: pipeline.stages.map(once),
    })),
    formats: config.formats.map(plain),
    slots: config.slots.map(plain),
  };
}

function plain<Entry extends object>(entry: Entry): Plain<Entry> {
  return { ...entry, positionOf: undefined, isValid: undefined };
}
