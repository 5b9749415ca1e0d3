import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../kit/schema/record.js';
import type { Counter } from '../../plugin/core.js';
import type { Logger } from '../../plugin/index.js';
import type { Instance } from './instance.js';
import { commandOf, type IsolatedProgram } from './program.js';
import type { ProcessEnd } from './process-end.js';
import { StageProcess } from './stage-process.js';
import type { LinkHandlers } from './wire/link.js';

/** Definition of a stage as its child process describes it. */
export interface IsolatedDefinition {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Names of its fields that are functions. */
  readonly functions: readonly string[];
}

/** Services of the gateway for an isolated stage, beside its host. */
export interface IsolationServices {
  /** `gw2api_isolated_restarts_total`. */
  readonly restarts: Counter;
  readonly log: Logger;
  /** Sentences on the pages of the console, which come and go. */
  readonly notices: string[];
}

export interface SupervisorOptions extends LinkHandlers {
  readonly program: IsolatedProgram;
  /** Set-ups that a process must have. */
  readonly instances: () => readonly Instance[];
}

/**
 * Keeps one process of a stage, from the first use to some time after the last. After three ends in a minute the stage
 * is off for a minute.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #starting: Promise<StageProcess> | undefined;
  #running: StageProcess | undefined;
  #definition: IsolatedDefinition | undefined;
  #name = '';
  #services: IsolationServices | undefined;
  readonly #ends: number[] = [];
  #offUntilMs = 0;
  #restTimer: NodeJS.Timeout | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get definition(): IsolatedDefinition {
    if (!this.#definition) throw new Error('is not loaded');
    return this.#definition;
  }

  /** The process that serves now. */
  get running(): StageProcess | undefined {
    return this.#running;
  }

  /** Name of the entry, and where its restarts are reported. */
  serve(name: string, services: IsolationServices): void {
    this.#name = name;
    this.#services = services;
    clearTimeout(this.#restTimer);
  }

  /** The process, which is started if there is none. Rejects while the stage is off. */
  process(): Promise<StageProcess> {
    if (this.#running) return Promise.resolve(this.#running);
    if (performance.now() < this.#offUntilMs) return Promise.reject(new Error(isOff));
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  /** Sets an instance up that is new; returns the names of its parts. */
  async setUp(instance: Instance): Promise<readonly string[]> {
    const process = await this.process();
    return process.isSetUp.get(instance.id) ?? this.#setUpIn(process, instance);
  }

  /** Ends the process if no pipeline uses it: at once, or after some time in which the next one may be set up. */
  rest(waits = true): void {
    if (this.#options.instances().length > 0) return;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(
      () => {
        if (this.#options.instances().length === 0)
          this.#running?.end({ reason: 'idle', detail: 'was not used any more' });
      },
      waits ? restMs : 0,
    ).unref();
  }

  async #start(): Promise<StageProcess> {
    const { program, calls, notes } = this.#options;
    const child = new StageProcess({
      command: await commandOf(program, process.env),
      settings: program.settings,
      calls,
      notes,
      onCaches: (caches) => notes['caches']?.(caches),
      onEnd: (end) => this.#ended(child, end),
    });
    try {
      this.#take(await child.call('load', program.file));
      this.#running = child;
      for (const instance of this.#options.instances()) await this.#setUpIn(child, instance);
    } catch (error) {
      const { ended } = child;
      child.end({ reason: 'start', detail: 'could not be set up' });
      throw ended ? new Error(`has a process that ${ended.detail}`, { cause: error }) : error;
    }
    this.rest();
    return child;
  }

  #take(described: unknown): void {
    const { fields, functions } = isRecord(described) ? described : {};
    if (!isRecord(fields) || !Array.isArray(functions))
      throw new Error('has a definition that cannot be read');
    const definition = { fields, functions: functions.map(String) };
    if (this.#definition && !isDeepStrictEqual(this.#definition, definition))
      throw new Error('has another definition than before; reload the config');
    this.#definition = definition;
  }

  #setUpIn(child: StageProcess, instance: Instance): Promise<readonly string[]> {
    const made = (async () => {
      const parts = await instance.setUpIn(child);
      if (instance.isStarted && parts.includes('start'))
        await child.call('act', { instance: instance.id, act: 'start' });
      return parts;
    })();
    child.isSetUp.set(instance.id, made);
    return made;
  }

  #ended(child: StageProcess, end: ProcessEnd): void {
    if (this.#running === child) this.#running = undefined;
    if (end.reason === 'idle') return;
    const isServing = this.#options.instances().some(({ isStarted }) => isStarted);
    if (!isServing) return;
    const { restarts, log } = this.#services ?? {};
    restarts?.add({ stage: this.#name, reason: end.reason });
    const nowMs = performance.now();
    this.#ends.push(nowMs);
    while ((this.#ends[0] ?? nowMs) < nowMs - windowMs) this.#ends.shift();
    const fields = { stage: this.#name, reason: end.reason, pid: child.pid };
    if (this.#ends.length >= maxEnds) return this.#switchOff(fields, end);
    log?.warn(fields, `The process of an isolated stage ${end.detail}; another one is started.`);
    this.process().catch((error: unknown) =>
      log?.error({ ...fields, err: error }, 'An isolated stage could not be started again.'),
    );
  }

  #switchOff(fields: object, end: ProcessEnd): void {
    this.#ends.length = 0;
    this.#offUntilMs = performance.now() + offMs;
    const { log, notices } = this.#services ?? {};
    log?.error(
      fields,
      `The process of an isolated stage ${end.detail}, for the third time in a minute; it is off for a minute.`,
    );
    const notice = `The isolated stage "${this.#name}" is off for a minute: its process has ended three times within one.`;
    notices?.push(notice);
    setTimeout(() => {
      const at = notices?.indexOf(notice) ?? -1;
      if (at !== -1) notices?.splice(at, 1);
      if (this.#options.instances().length > 0) this.process().catch(() => undefined); // reported by its end
    }, offMs).unref();
  }
}

const isOff = 'it is off for a minute, as its process has ended three times within one';
const maxEnds = 3;
const windowMs = 60_000;
const offMs = 60_000;
/** Time that a process without a pipeline waits for the next one: a check sets a stage up after it has loaded it. */
const restMs = 5000;
