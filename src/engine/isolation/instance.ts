import { isRecord } from '../../kit/schema/record.js';
import type { Host, Logger } from '../../plugin/index.js';
import { InstanceCalls } from './instance-calls.js';
import type { StageProcess } from './stage-process.js';
import { WireFault } from './wire/frames.js';
import type { WireHost, WireTime } from './wire/protocol.js';

type Measure = (labels: Readonly<Record<string, string>>, amount: number) => void;

/** One set-up of an isolated stage, with its host: there is one for each pipeline. */
export class Instance {
  readonly id: number;
  readonly #options: unknown;
  readonly #host: Host;
  readonly #baseDir: string;
  #measures = new Map<number, Measure>();
  #caches = new Map<string, () => void>();
  #fills: Readonly<Record<string, unknown>> = {};
  readonly #timers = new Map<number, () => void>();
  /** Error of what it has registered during its set-up. */
  #fault: unknown;
  #isSetUp = false;
  isStarted = false;
  readonly #rate = new Rate();
  readonly calls: InstanceCalls;

  constructor(id: number, options: unknown, host: Host, baseDir: string) {
    this.id = id;
    this.#options = options;
    this.#host = host;
    this.#baseDir = baseDir;
    this.calls = new InstanceCalls(host);
  }

  get isDry(): boolean {
    return this.#host.dry;
  }

  /** Sets the stage up in a process; returns the names of its parts. */
  async setUpIn(process: StageProcess): Promise<readonly string[]> {
    this.#measures = new Map();
    if (this.isDry) process.watchQuiet();
    const params = { instance: this.id, options: this.#options, host: this.#wireHost() };
    const made = await process.call('setup', params);
    if (this.#fault !== undefined) throw this.#fault;
    this.#isSetUp = true;
    const { parts } = isRecord(made) ? made : {};
    return Array.isArray(parts) ? parts.map(String) : [];
  }

  /** Time of the gateway's clock, which a dry run moves. */
  get time(): WireTime {
    const { clock } = this.#host;
    return [clock.now(), clock.monotonicMs()];
  }

  /** Takes the fill levels of its caches. */
  setFills(fills: unknown): void {
    this.#fills = isRecord(fills) ? fills : {};
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    for (const stop of this.#caches.values()) stop();
    this.#caches.clear();
  }

  /** Takes a line of the stage's log; `log`: that of a request, else that of the stage. */
  log(params: unknown, log: Logger = this.#host.log): void {
    const [level, fields, message] = listOf(params);
    if (!this.#rate.takes()) return;
    const write =
      level === 'debug' || level === 'info' || level === 'warn' || level === 'error' ? level : 'info';
    const isShort = isRecord(fields) && JSON.stringify(fields).length <= maxFields;
    log[write](isShort ? fields : {}, String(message).slice(0, maxText));
  }

  /** Output of the stage that is no part of its log. */
  print(text: unknown): void {
    if (this.#rate.takes())
      this.#host.log.info({ output: String(text).slice(0, maxText) }, 'An isolated stage printed a text.');
  }

  readonly notes: Readonly<Record<string, (params: unknown, process: StageProcess) => void>> = {
    log: (params) => this.log(params),
    announce: (limits) => this.#registered(() => isRecord(limits) && this.#host.announce(limits)),
    notice: (text) => this.#registered(() => this.#host.notice(String(text).slice(0, maxText))),
    learn: (params) => {
      const [name, profile] = listOf(params);
      if (isRecord(profile) && this.#rate.counts()) this.#host.models.learn(String(name), profile);
    },
    metric: (params) => this.#define(params),
    measure: (params) => {
      const [id, labels, amount] = listOf(params);
      this.#rate.counts();
      if (!isRecord(labels) || typeof amount !== 'number' || !Number.isFinite(amount)) return;
      const texts = Object.entries(labels).map(([name, value]) => [name, String(value)]);
      this.#measures.get(Number(id))?.(
        Object.fromEntries(texts) as Record<string, string>,
        Math.max(0, amount),
      );
    },
    cancelCall: (id) => this.calls.cancel(Number(id)),
    timer: (params, process) => this.#setTimer(params, process),
  };

  /** Answers a question about its storage. */
  async storage(op: unknown, args: unknown): Promise<unknown> {
    const { storage } = this.#host;
    const [key, value, options] = listOf(args);
    if (op === 'get') return storage.get(String(key));
    if (op === 'set')
      return storage.set(
        String(key),
        value as Parameters<typeof storage.set>[1],
        isRecord(options) ? options : {},
      ); // JSON, as it came
    if (op === 'delete') return storage.delete(String(key));
    if (op === 'list') return storage.list(String(key), isRecord(value) ? value : {});
    throw new WireFault('asked its storage for an unknown operation');
  }

  #wireHost(): WireHost {
    const { name, isLocal, dry, models } = this.#host;
    const baseDir = this.#baseDir;
    return { name, isLocal, dry, baseDir, models: models.list(), listed: models.listed(), time: this.time };
  }

  /** Registers something during the set-up; what a later process of the stage registers is there already. */
  #registered(register: () => unknown): void {
    if (this.#isSetUp) return;
    try {
      register();
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #define(params: unknown): void {
    const [id, kind, given] = listOf(params);
    const [name, help, labels, buckets] = listOf(given);
    if (this.#measures.size >= maxMetrics) throw new WireFault(`registered more than ${maxMetrics} metrics`);
    const { metrics } = this.#host;
    const names = listOf(labels).map(String);
    try {
      if (kind === 'counter') {
        const counter = metrics.counter(String(name), String(help), names);
        this.#measures.set(Number(id), (at, amount) => counter.add(at, amount));
      } else if (kind === 'histogram') {
        const histogram = metrics.histogram(String(name), String(help), names, listOf(buckets).map(Number));
        this.#measures.set(Number(id), (at, value) => histogram.observe(at, value));
      } else this.#addCache(String(name));
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #addCache(name: string): void {
    if (this.#caches.has(name)) return;
    const read = () => {
      const { entries, capacity } = Object(this.#fills[name]) as Record<string, unknown>; // any object has properties
      return { entries: Number(entries) || 0, capacity: Number(capacity) || 0 };
    };
    this.#caches.set(name, this.#host.metrics.cache(name, read));
  }

  /** Timer of a dry run, whose clock the gateway moves. */
  #setTimer(params: unknown, process: StageProcess): void {
    const [id, ms] = listOf(params).map(Number);
    if (id === undefined) return;
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    if (ms === undefined || this.#timers.size >= maxTimers) return;
    const fire = (): void => {
      this.#timers.delete(id);
      process.note('time', this.time);
      process.note('fire', [this.id, id]);
    };
    this.#timers.set(id, this.#host.clock.setTimer(fire, ms));
  }
}

const maxText = 2000;
const maxFields = 8000;
const maxMetrics = 200;
const maxTimers = 10_000;

/** Number of notes of a stage in a second; those of its log beyond a bound are dropped. */
class Rate {
  #sinceMs = 0;
  #count = 0;
  #lines = 0;

  /** Throws a WireFault beyond a bound that no stage reaches. */
  counts(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs > 1000) {
      this.#sinceMs = nowMs;
      this.#count = 0;
      this.#lines = 0;
    }
    this.#count += 1;
    if (this.#count > maxNotes) throw new WireFault(`sent more than ${maxNotes} notes in a second`);
    return true;
  }

  takes(): boolean {
    this.counts();
    this.#lines += 1;
    return this.#lines <= maxLines;
  }
}

const maxNotes = 50_000;
const maxLines = 200;

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
