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
  /** Hub for the state that workers share; undefined if they share it elsewhere (Redis). */
  readonly hub: IpcHub | undefined;
  readonly secretKey: () => Promise<string | undefined>;
  readonly orders: Omit<WorkerInit, 'name' | 'text' | 'isHub'>;
  /** Config file text at startup. */
  readonly text: string;
  readonly readText: () => Promise<string>;
}

/** Keeps `size` workers alive, restarting those that die. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #members = new Set<Member>();
  readonly #serving = new Set<Member>();
  readonly #departed = new ExitedMetrics();
  readonly #reload: PoolReload;
  readonly #gaveUp: Promise<never>;
  #giveUp: (error: UsageError) => void = () => undefined;
  /** Names of dead or leaving workers without a replacement that serves. */
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

  /** Returns the URL once all workers listen. Throws a UsageError with the reason if they cannot start. */
  async start(): Promise<string> {
    const names = Array.from({ length: this.#options.size }, (_, index) => String(index + 1));
    const first = names.map((name) => new Promise<string>((resolve) => void this.#man(name, resolve)));
    const [url] = await Promise.race([Promise.all(first), this.#gaveUp]);
    return url ?? '';
  }

  /** Rejects when workers repeatedly die before they serve. */
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

  /** Drains all workers and resolves when they have exited. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { line } of this.#members) line.tell('worker.end');
    await Promise.all([...this.#members].map(({ ended }) => ended));
  }

  kill(): void {
    this.#isClosing = true;
    for (const member of this.#members) member.kill();
  }

  /** Supervises one worker: restarts it with backoff whenever it exits. */
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

  /** Logs that a worker drains before its exit, and that a replacement starts. */
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
    // With port 0 the system chooses a new port after all workers have exited.
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

/** Max consecutive deaths before serving, while no other worker serves. After that the pool gives up. */
const mostFailures = 5;
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** Lifetime after which a worker counts as stable, which resets the restart backoff. */
const steadyMs = 10_000;
