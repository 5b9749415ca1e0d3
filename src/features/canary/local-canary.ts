import { hash, randomUUID } from 'node:crypto';
import { canaryReport, type CanaryReport } from './canary-report.js';
import { Canary } from './canary.js';
import { countChanges, type ConfigDiff } from '../../config/diff/config-diff.js';
import type { CoreContext } from '../../engine/http/exchange.js';
import { GatewayError } from '../../plugin/index.js';
import type { Ended, RequestWatch } from '../../gateway/extension.js';
import type { ReloadResult } from '../../gateway/options.js';
import { recordGivenUp } from './audited-canary.js';
import { CanaryPlaces } from './canary-places.js';
import { canaryRefusal } from './canary-refusal.js';
import type { Candidate, CandidateEnd, Prepared } from '../../gateway/reload/prepared.js';
import type { CurrentConfig } from '../../gateway/reload/current-config.js';
import type { Runtime } from '../../gateway/runtime.js';
import type { Services } from '../../gateway/services.js';

/** A running canary. */
interface Running {
  readonly canary: Canary;
  readonly candidate: Candidate;
  readonly claim: IdClaim;
  readonly percent: number;
  readonly startedMs: number;
  /** False if the other instances could not be asked for their id of it. */
  readonly isShared: boolean;
  readonly onGivenUp: () => void;
}

/** Name and value of the claim that gives all instances the same id. */
interface IdClaim {
  readonly name: string;
  readonly id: string;
}

/** The canary of this process: the runtime of each request, and the figures of both variants. */
export class LocalCanary implements RequestWatch {
  readonly #services: Services;
  readonly #current: CurrentConfig;
  #running: Running | undefined;
  /** Report on the last canary that has ended. */
  #ended: CanaryReport | undefined;
  readonly #places: CanaryPlaces;

  constructor(services: Services, current: CurrentConfig) {
    this.#services = services;
    this.#current = current;
    this.#places = new CanaryPlaces(services);
  }

  /**
   * Gives the prepared config to `percent` of the new sessions; calls `onGivenUp` if it is rolled back. Throws
   * `conflict` if it cannot be compared with the config in force.
   */
  async start(
    prepared: Prepared,
    percent: number,
    onGivenUp: () => void = () => undefined,
  ): Promise<ConfigDiff> {
    const refusal = canaryRefusal(prepared, this.#current.runtime);
    if (refusal) {
      await prepared.leave();
      throw refusal;
    }
    const candidate = await prepared.hold((end) => this.#hasEnded(candidate, end));
    const running = { ...(await this.#run(candidate, percent)), onGivenUp };
    if (this.#current.candidate !== candidate) {
      running.canary.close();
      throw new GatewayError('conflict', 'Another reload took place before this canary.');
    }
    this.#running = running;
    const changes = countChanges(candidate.changes);
    this.#services.log.info({ percent, changes }, 'A canary has started.');
    if (!running.isShared)
      this.#services.log.warn(
        {},
        'The other instances cannot be reached: a session may get the other config there.',
      );
    return candidate.changes;
  }

  /** Takes the candidate as a whole. Throws `conflict` if no canary is running. */
  async commit(): Promise<ReloadResult> {
    return this.#current.takeCandidate(this.#candidate);
  }

  /** Ends the canary; its sessions get the config in force. Throws `conflict` if no canary is running. */
  async cancel(): Promise<void> {
    if (!(await this.#current.leaveCandidate(this.#candidate, 'cancelled'))) throw noCanary();
  }

  /** The running canary, or else the last one; undefined if there has been none. */
  get report(): CanaryReport | undefined {
    return this.#running ? this.#reportOn(this.#running, 'running') : this.#ended;
  }

  /** Places a request in the running canary; undefined if that takes no time. */
  readonly place = (ctx: CoreContext): Promise<void> | undefined =>
    this.#running && ctx.method === 'POST' ? this.#places.add(ctx, this.#running.canary) : undefined;

  /** Runtime of a request of the candidate, which has to enter it at once: it may be disposed afterwards. */
  readonly runtimeOf = (ctx: CoreContext): Runtime | undefined => {
    const running = this.#running;
    const placed = running && this.#places.get(ctx);
    const isCandidate = placed?.side === 'candidate' && placed.canary === running?.canary;
    return isCandidate ? running.candidate.runtime : undefined;
  };

  /** Counts a request whose response has closed. */
  readonly settled = ({ exchange: { ctx }, record }: Ended): void => {
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
  };

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
      isUnderWay: (headers) => this.#places.isUnderWay(headers),
      onGivenUp: () => this.#giveUp(canary),
    });
    return { canary, candidate, percent, claim: { name, id }, startedMs: now(), isShared: !live.isDown };
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
      'The canary was rolled back: its error rate is significantly higher. The old config stays in force.',
    );
    await recordGivenUp(this.#services, running.claim, this.#reportOn(running, 'given_up'));
  }

  get #candidate(): Candidate {
    if (!this.#running) throw noCanary();
    return this.#running.candidate;
  }

  #hasEnded(candidate: Candidate, end: CandidateEnd): void {
    const running = this.#running;
    if (running?.candidate !== candidate) return;
    const { canary, claim } = running;
    canary.close();
    this.#ended = this.#reportOn(running, end);
    this.#services.live.claims.release(claim.name, claim.id);
    this.#running = undefined;
  }

  #reportOn(running: Running, state: CanaryReport['state']): CanaryReport {
    const { canary, candidate, percent, startedMs, isShared } = running;
    const { changes } = candidate;
    return canaryReport({ state, percent, startedMs, isShared, changes, figures: canary.figures() });
  }
}

function noCanary(): GatewayError {
  return new GatewayError('conflict', 'No canary is running; POST /admin/reload?canary=5 starts one.');
}

/** Lifetime of the id of a canary. */
const maxAgeMs = 30 * 24 * 3_600_000;
