import type { IncomingHttpHeaders } from 'node:http';
import type { LRUCache } from 'lru-cache';
import { type Live, sentKey } from '../../plugin/core.js';
import { defaultStickyFrom, sessionName, type Clock, type Logger } from '../../plugin/index.js';
import { dayMs, every } from '../../kit/time/clock.js';
import { growingCache } from '../../kit/growing-cache.js';
import { isClearlyWorse } from './evidence.js';
import {
  failedSessions,
  FigureCounter,
  readFigures,
  sumFigures,
  writeFigures,
  type CanaryFigures,
  type CanaryResult,
} from './figures.js';
import { sideOf, unitOf, type CanarySide } from './side.js';

export interface CanaryOptions {
  /** Id of the canary, the same on all instances that run it. */
  readonly id: string;
  /** Share of new sessions for the candidate, above 0 and up to 50. */
  readonly percent: number;
  readonly live: Pick<Live, 'instance' | 'shared' | 'claims'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** True for a session that started before the canary, which keeps the config in force. */
  readonly isUnderWay: (headers: IncomingHttpHeaders) => Promise<boolean>;
  /** Called once, on every instance, when the candidate is rolled back. */
  readonly onGivenUp: () => void;
}

/** Place of one request in a canary. */
export interface CanaryPlace {
  readonly side: CanarySide;
  readonly unit: string;
}

/**
 * A canary: gives a share of new sessions to a candidate, compares them with an equal share of new sessions on the
 * config in force, over all instances, and rolls back if the candidate's error rate is significantly higher.
 */
export class Canary {
  readonly #options: CanaryOptions;
  readonly #own = new FigureCounter();
  /** Sessions with an assigned variant; `none`: started before the canary. */
  readonly #decided: LRUCache<string, CanarySide | 'none'> = growingCache(20_000);
  readonly #stopPublishing: () => void;
  readonly #stopWatching: () => void;
  /** Failed requests of this instance. */
  #failures = 0;
  #hasChanged = false;
  #isGivenUp = false;

  constructor(options: CanaryOptions) {
    this.#options = options;
    const { live, clock } = options;
    this.#stopPublishing = every(clock, publishEveryMs, () => this.#publish());
    this.#stopWatching = live.shared.watch(this.#verdictKey, () => this.#giveUp());
    if (live.shared.get(this.#verdictKey) !== undefined) clock.setTimer(() => this.#giveUp(), 0);
  }

  /**
   * Place of a request by its session, decided once for a session; undefined if it has none. A request without a session
   * has its place by `name`.
   */
  placeOf(
    headers: IncomingHttpHeaders,
    name: string,
  ): CanaryPlace | undefined | Promise<CanaryPlace | undefined> {
    const { id, percent } = this.#options;
    const session = sessionName(headers, { from: defaultStickyFrom });
    const credential = headers.authorization ?? sentKey(headers) ?? '';
    const unit = unitOf(id, session === undefined ? name : `${credential}\0${session}`);
    const side = sideOf(unit, percent);
    if (!side) return undefined;
    if (session === undefined) return { side, unit };
    const decided = this.#decided.get(unit);
    if (decided === undefined) return this.#decide(headers, { side, unit });
    return decided === 'none' ? undefined : { side, unit };
  }

  /** Counts a request whose response has closed. */
  count({ side, unit }: CanaryPlace, result: CanaryResult): void {
    this.#own.add(side, result);
    this.#hasChanged = true;
    if (result.hasFailed)
      this.#countFailure(side, unit).catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'A failed session of the canary could not be counted.'),
      );
  }

  /** Figures of all instances, as last received. */
  figures(): CanaryFigures {
    const { live } = this.#options;
    const others = live.shared
      .entries(this.#figuresPrefix)
      .flatMap(([key, value]) => (key === this.#ownKey ? [] : [readFigures(value)]));
    return sumFigures([this.#own.figures, ...others]);
  }

  close(): void {
    this.#stopPublishing();
    this.#stopWatching();
    if (this.#hasChanged) this.#publish();
  }

  /** All instances follow the first one that has decided. */
  async #decide(headers: IncomingHttpHeaders, place: CanaryPlace): Promise<CanaryPlace | undefined> {
    const { isUnderWay, live, id, log } = this.#options;
    const { side, unit } = place;
    try {
      const own = (await isUnderWay(headers)) ? 'none' : side;
      const decided = await live.claims.take(`canary/${id}/session/${unit}`, own, { ttlMs: lifetimeMs });
      this.#decided.set(unit, decided === 'none' ? 'none' : side);
      return decided === 'none' ? undefined : place;
    } catch (error) {
      log.warn({ err: error }, 'A session could not be checked; it keeps the config in force for now.');
      return undefined;
    }
  }

  /** Counts a session at its first failure on any instance. */
  async #countFailure(side: CanarySide, unit: string): Promise<void> {
    const { live, id } = this.#options;
    const own = `${live.instance}/${this.#failures++}`;
    const first = await live.claims.take(`canary/${id}/failed/${unit}`, own, { ttlMs: lifetimeMs });
    if (first === own) this.#own.addFailedSession(side);
    this.#judge();
  }

  #publish(): void {
    if (this.#hasChanged)
      this.#options.live.shared.set(this.#ownKey, writeFigures(this.#own.figures), lifetimeMs);
    this.#hasChanged = false;
    this.#judge();
  }

  #judge(): void {
    if (!isClearlyWorse(failedSessions(this.figures()))) return;
    this.#options.live.shared.set(this.#verdictKey, true, lifetimeMs);
    this.#giveUp();
  }

  #giveUp(): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#options.onGivenUp();
  }

  get #figuresPrefix(): string {
    return `canary/${this.#options.id}/figures/`;
  }

  get #ownKey(): string {
    return `${this.#figuresPrefix}${this.#options.live.instance}`;
  }

  get #verdictKey(): string {
    return `canary/${this.#options.id}/verdict`;
  }
}

/** Lifetime of the shared data about a canary, from its last change. */
const lifetimeMs = dayMs;

/** Interval at which an instance publishes its figures and evaluates all. */
const publishEveryMs = 1000;
