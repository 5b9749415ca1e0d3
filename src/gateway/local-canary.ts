import { hash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { canaryReport, type CanaryEnd, type CanaryReport } from '../admin/canary-report.js';
import { Canary, type CanaryPlace } from '../canary/index.js';
import { countChanges, type ConfigDiff } from '../config-diff/index.js';
import type { CoreContext, Exchange } from '../http/exchange.js';
import { defaultStickyFrom, GatewayError, sentKey, stickyKey, within } from '../plugin/internal.js';
import type { RequestRecord } from '../telemetry/request-record.js';
import type { Taken } from './options.js';
import { recordGivenUp } from './audited-canary.js';
import type { Candidate, Prepared } from './prepared.js';
import type { CurrentConfig } from './reload.js';
import type { Runtime } from './runtime.js';
import type { Services } from './services.js';

/** A canary that runs. */
interface Running {
  readonly canary: Canary;
  readonly candidate: Candidate;
  readonly claim: IdClaim;
  readonly percent: number;
  readonly startedMs: number;
  readonly onGivenUp: () => void;
}

/** Place of a request in the canary that ran at its start. */
interface Placed extends CanaryPlace {
  readonly canary: Canary;
}

/** Name and value of the claim that gives all instances the same id. */
interface IdClaim {
  readonly name: string;
  readonly id: string;
}

/** The canary of this process: the runtime of each request, and the figures of both sides. */
export class LocalCanary {
  readonly #services: Services;
  readonly #current: CurrentConfig;
  #running: Running | undefined;
  /** Report on the last canary that has ended. */
  #ended: CanaryReport | undefined;
  /** Places of the requests under way. */
  readonly #places = new WeakMap<CoreContext, Placed>();

  constructor(services: Services, current: CurrentConfig) {
    this.#services = services;
    this.#current = current;
  }

  /**
   * Gives the prepared config to `percent` of the new sessions. Throws `conflict` if it changes slots or models.
   * `onGivenUp` is called if it is given up.
   */
  async start(
    prepared: Prepared,
    percent: number,
    onGivenUp: () => void = () => undefined,
  ): Promise<ConfigDiff> {
    const shared = ['slots', 'models'] as const;
    const changed = shared.filter((part) => prepared.changes[part].length > 0);
    if (changed.length > 0) {
      await prepared.leave();
      throw new GatewayError(
        'conflict',
        `A canary shares the ${changed.join(' and ')} with the config in force, and this one changes them: reload ` +
          'those changes first, or the whole config without a canary.',
      );
    }
    const candidate = await prepared.hold((end) => this.#hasEnded(candidate, end));
    const running = { ...(await this.#run(candidate, percent)), onGivenUp };
    if (this.#current.candidate !== candidate) {
      running.canary.close();
      throw new GatewayError('conflict', 'Another reload has come before this canary.');
    }
    this.#running = running;
    const changes = countChanges(candidate.changes);
    this.#services.log.info({ percent, changes }, 'A canary has started.');
    return candidate.changes;
  }

  /** Takes the candidate wholly. Throws `conflict` where no canary runs. */
  async commit(): Promise<Taken> {
    return this.#current.takeCandidate(this.#candidate);
  }

  /** Ends the canary; its sessions get the config in force. Throws `conflict` where no canary runs. */
  async cancel(): Promise<void> {
    if (!(await this.#current.leaveCandidate(this.#candidate, 'cancelled'))) throw noCanary();
  }

  /** The canary that runs, or else the last one; undefined if there has been none. */
  get report(): CanaryReport | undefined {
    return this.#running ? this.#reportOn(this.#running, 'running') : this.#ended;
  }

  /** Places a request in the canary that runs; undefined where that takes no time. */
  place(ctx: CoreContext): Promise<void> | undefined {
    return this.#running && ctx.method === 'POST' ? this.#place(ctx, this.#running.canary) : undefined;
  }

  /** Runtime of a request, which has to enter it at once: it may be disposed afterwards. */
  runtimeOf(ctx: CoreContext): Runtime {
    const running = this.#running;
    const placed = running && this.#places.get(ctx);
    const isCandidate = placed?.side === 'candidate' && placed.canary === running?.canary;
    return isCandidate ? running.candidate.runtime : this.#current.runtime;
  }

  /** Counts a request whose response has closed. */
  settled({ ctx }: Exchange, record: RequestRecord): void {
    const placed = this.#running && this.#places.get(ctx);
    if (!placed || placed.canary !== this.#running?.canary || record.operation !== 'generate') return;
    const { outcome, status, firstTokenMs, masked } = record;
    placed.canary.count(placed, {
      hasFailed: outcome !== 'abandoned' && (outcome === 'failed' || status >= 400),
      firstTokenMs,
      addedTokens:
        (masked.input_tokens ?? 0) +
        (masked.cache_read_input_tokens ?? 0) +
        (masked.cache_creation_input_tokens ?? 0),
    });
  }

  async #place(ctx: CoreContext, canary: Canary): Promise<void> {
    if (this.#services.keys.hasPass(sentKey(ctx.headers))) return; // the pass is taken once, by the stages
    const place = await canary.placeOf(ctx.headers, ctx.state.requestId);
    if (place) this.#places.set(ctx, { ...place, canary });
  }

  async #run(candidate: Candidate, percent: number): Promise<Omit<Running, 'onGivenUp'>> {
    const { live, clock, log, now } = this.#services;
    const name = `canary/${percent}/${hash('sha256', JSON.stringify(candidate.changes), 'hex')}`;
    const id = await live.claims.take(name, randomUUID(), { ttlMs: maxAgeMs });
    const canary = new Canary({
      id,
      percent,
      live,
      clock,
      log,
      isUnderWay: (headers) => this.#isUnderWay(headers),
      onGivenUp: () => this.#giveUp(canary),
    });
    return { canary, candidate, percent, claim: { name, id }, startedMs: now() };
  }

  /** True for a session that is bound to a slot already. A caller whose key a plugin checks is not known here. */
  async #isUnderWay(headers: IncomingHttpHeaders): Promise<boolean> {
    const { keys, store, clock } = this.#services;
    const sent = sentKey(headers);
    const found = sent === undefined ? undefined : await keys.check(sent);
    if (!found) return false;
    const keyId = found.kind === 'master' ? 'master' : found.key.id;
    const key = stickyKey(keyId, headers, { from: defaultStickyFrom });
    if (key === undefined) return false;
    const bound = within(store.bindings.get(key), storeMs, 'The store has not answered.', clock.setTimer);
    return (await bound) !== undefined;
  }

  #giveUp(canary: Canary): void {
    if (this.#running?.canary !== canary) return;
    this.#leaveGivenUp(this.#running).catch((error: unknown) =>
      this.#services.log.error({ err: error }, 'The canary could not be ended.'),
    );
  }

  async #leaveGivenUp(running: Running): Promise<void> {
    const { canary, candidate, onGivenUp } = running;
    if (!(await this.#current.leaveCandidate(candidate, 'given_up'))) return;
    onGivenUp();
    this.#services.log.error(
      { figures: canary.figures() },
      'The canary was given up: its errors are clearly more. The old config stays in force.',
    );
    await recordGivenUp(this.#services, running.claim, this.#reportOn(running, 'given_up'));
  }

  get #candidate(): Candidate {
    if (!this.#running) throw noCanary();
    return this.#running.candidate;
  }

  #hasEnded(candidate: Candidate, end: CanaryEnd): void {
    const running = this.#running;
    if (running?.candidate !== candidate) return;
    const { canary, claim } = running;
    canary.close();
    this.#ended = this.#reportOn(running, end);
    this.#services.live.claims.release(claim.name, claim.id);
    this.#running = undefined;
  }

  #reportOn({ canary, candidate, percent, startedMs }: Running, state: CanaryReport['state']): CanaryReport {
    const { changes } = candidate;
    return canaryReport({ state, percent, startedMs, changes, figures: canary.figures() });
  }
}

function noCanary(): GatewayError {
  return new GatewayError('conflict', 'There is no canary now; POST /admin/reload?canary=5 starts one.');
}

/** Time limit of the store for the first request of a session. */
const storeMs = 250;

/** Lifetime of the id of a canary. */
const maxAgeMs = 30 * 24 * 3_600_000;
