import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../plugin/index.js';
import type { IpcHub } from '../live/ipc/hub.js';
import type { Measurement } from '../telemetry/metrics.js';
import { ExitedMetrics } from './exited-metrics.js';
import { Member, type End } from './worker-handle.js';
import type { WorkerInit, Reloaded } from './worker-init.js';
import { PoolReload } from './pool-reload.js';
import { UsageError } from '../cli/usage-error.js';

export interface WorkerPoolOptions {
  readonly size: number;
  readonly log: Logger;
  /** Where they meet; undefined: they find each other elsewhere. */
  readonly hub: IpcHub | undefined;
  readonly secretKey: () => Promise<string | undefined>;
  readonly orders: Omit<WorkerInit, 'name' | 'text' | 'isHub'>;
  /** What the config file says. */
  readonly text: string;
  readonly readText: () => Promise<string>;
}

/** The workers of a primary: as many as there shall be, whatever becomes of one. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #members = new Set<Member>();
  readonly #serving = new Set<Member>();
  readonly #departed = new ExitedMetrics();
  readonly #reload: PoolReload;
  readonly #gaveUp: Promise<never>;
  #giveUp: (error: UsageError) => void = () => undefined;
  /** The names of those that have died and that nobody has replaced yet. */
  readonly #lost = new Set<string>();
  #failures = 0;
  #url: string | undefined;
  #isClosing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#reload = new PoolReload({ ...options, members: () => [...this.#members] });
    this.#gaveUp = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.#gaveUp.catch(() => undefined); // whoever started it is told, if that is not over
  }

  /** Gives the URL once all of them listen. Throws a UsageError with what is wrong where they cannot. */
  async start(): Promise<string> {
    const names = Array.from({ length: this.#options.size }, (_, index) => String(index + 1));
    const first = names.map((name) => new Promise<string>((resolve) => void this.#man(name, resolve)));
    const [url] = await Promise.race([Promise.all(first), this.#gaveUp]);
    return url ?? '';
  }

  /** Rejects when workers die before they serve, time and again. */
  get lost(): Promise<never> {
    return this.#gaveUp;
  }

  reload(): Promise<Reloaded> {
    return this.#reload.next();
  }

  async measure(): Promise<readonly (readonly Measurement[])[]> {
    const measured = await Promise.all([...this.#members].map((member) => member.measure()));
    return [...measured, this.#departed.measurements];
  }

  /** Each finishes what is under way. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { line } of this.#members) line.tell('worker.end');
    await Promise.all([...this.#members].map(({ ended }) => ended));
  }

  kill(): void {
    this.#isClosing = true;
    for (const member of this.#members) member.kill();
  }

  /** Keeps one place filled. */
  async #man(name: string, onListening: (url: string) => void): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#isClosing;) {
      const member = this.#enlist(name);
      const beganMs = performance.now();
      void this.#whenEnded(member);
      const url = await member.listening;
      if (url !== undefined) this.#hasBegun(member, url, onListening);
      await member.left;
      this.#serving.delete(member);
      if (this.#isClosing) return;
      if (this.#members.has(member)) this.#isLeaving(member);
      if (performance.now() - beganMs > steadyMs) pauseMs = firstPauseMs;
      await delay(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  async #whenEnded(member: Member): Promise<void> {
    const end = await member.ended;
    this.#members.delete(member);
    this.#serving.delete(member);
    this.#departed.add(member.measured);
    if (member.isLeaving)
      this.#options.log.info({ worker: Number(member.name), pid: member.pid }, 'A worker has ended.');
    else if (!this.#isClosing) this.#hasDied(member, end);
  }

  /** It finishes what is under way, and takes nothing new. */
  #isLeaving({ name, pid }: Member): void {
    this.#lost.add(name);
    this.#options.log.error({ worker: Number(name), pid }, 'A worker is about to end; another one starts.');
  }

  #enlist(name: string): Member {
    const member = new Member(name);
    const { line } = member;
    this.#members.add(member);
    line.on('crew.begin', async () => this.#ordersFor(member));
    line.on('crew.secret-key', () => this.#options.secretKey());
    line.on('crew.reload', () => this.reload());
    line.on('crew.measure', () => this.measure());
    this.#options.hub?.connect(line);
    return member;
  }

  async #ordersFor(member: Member): Promise<WorkerInit> {
    const text = await this.#reload.settledText();
    member.hasBegun = true;
    const { orders, hub } = this.#options;
    return { ...orders, name: member.name, text, isHub: hub !== undefined };
  }

  #hasBegun(member: Member, url: string, onListening: (url: string) => void): void {
    const { name, pid } = member;
    this.#failures = 0;
    this.#serving.add(member);
    const { log } = this.#options;
    if (this.#lost.delete(name)) log.info({ worker: Number(name), pid }, 'A worker serves again.');
    // With port 0 in the config the system has chosen anew where all of them had gone.
    if (this.#url !== undefined && url !== this.#url) log.warn({ url }, 'The address is another one now.');
    this.#url = url;
    onListening(url);
  }

  #hasDied({ name, pid }: Member, { hasServed, code, signal, failure }: End): void {
    const { log } = this.#options;
    if (failure && this.#url === undefined)
      return this.#giveUp(new UsageError(failure.message, failure.exitCode));
    const problem = failure && { problems: failure.message.split('\n') };
    this.#lost.add(name);
    log.error(
      { worker: Number(name), pid, code, signal, ...problem },
      'A worker has died; another one starts.',
    );
    if (hasServed || ++this.#failures < mostFailures || this.#serving.size > 0) return undefined;
    const message = `Workers have died ${mostFailures} times in a row before they could serve; giving up.`;
    return this.#giveUp(new UsageError(message, 1));
  }
}

/** So many deaths before serving, with none in between that served, are no accident; as long as others serve they may be. */
const mostFailures = 5;
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** Whoever has lived so long has not died of its start. */
const steadyMs = 10_000;
