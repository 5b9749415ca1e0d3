import type Koa from 'koa';
import { isRecord } from '../../kit/schema/record.js';
import type { Host, Intercept, Logger, Plugin } from '../../plugin/index.js';
import { Conversation, type StageTerms } from './conversation.js';
import { Instance, listOf } from './instance.js';
import type { IsolatedProgram } from './program.js';
import { stageFailure } from './stage-failure.js';
import type { StageProcess } from './stage-process.js';
import { Supervisor, type IsolatedDefinition, type IsolationServices } from './supervisor.js';

/** Parts of a stage, as a plugin's `setup` returns them. */
type Parts = Readonly<Partial<Record<string, unknown>>>;

/** Stage of an entry in a child process: loaded once, set up for each pipeline, started again after an end. */
export class IsolatedStage {
  readonly #program: IsolatedProgram;
  readonly #supervisor: Supervisor;
  readonly #instances = new Map<number, Instance>();
  readonly #conversations = new Map<number, Conversation>();
  readonly #byRequest = new WeakMap<object, Map<number, Conversation>>();
  #lastInstance = 0;
  #lastRequest = 0;

  private constructor(program: IsolatedProgram) {
    this.#program = program;
    this.#supervisor = new Supervisor({
      program,
      instances: () => [...this.#instances.values()],
      calls: {
        next: (params) => this.#conversation(params, ([, change], found) => found.next(change)),
        model: (params) =>
          this.#conversation(params, ([, run, change, left], found) => found.model(run, change, left)),
        hostCall: (params) => {
          const [id, call, request, change, terms] = listOf(params);
          const { calls } = this.#instance(id);
          const found = request === null ? undefined : this.#found(request);
          return calls.make(Number(call), found?.ctx, change, terms);
        },
        storage: (params) => {
          const [id, op, args] = listOf(params);
          return this.#instance(id).storage(op, args);
        },
      },
      notes: this.#notes(),
    });
  }

  /** Starts the process of a stage and loads its definition. Throws an Error whose message continues its name. */
  static async load(program: IsolatedProgram): Promise<IsolatedStage> {
    const stage = new IsolatedStage(program);
    await stage.#supervisor.process();
    return stage;
  }

  get definition(): IsolatedDefinition {
    return this.#supervisor.definition;
  }

  /** Answer of a definition that decides it by its options. */
  async keepsPrefix(options: unknown): Promise<boolean> {
    const process = await this.#supervisor.process();
    return (await process.call('keepsPrefix', options)) === true;
  }

  /** Sets the stage up for a pipeline; its parts, as a plugin's `setup` returns them. */
  async setUp(options: unknown, host: Host, plugin: Plugin, services: IsolationServices): Promise<Parts> {
    const instance = new Instance(++this.#lastInstance, options, host, this.#program.baseDir);
    this.#supervisor.serve(host.name, services);
    // Its first process sets it up in `start` of the supervisor, unless it runs already.
    this.#instances.set(instance.id, instance);
    try {
      const names = await this.#supervisor.setUp(instance);
      return this.#parts(names, instance, plugin, host.name);
    } catch (error) {
      await this.#dispose(instance);
      throw error;
    }
  }

  #parts(names: readonly string[], instance: Instance, plugin: Plugin, name: string): Parts {
    const { requires, reads = [], provides } = plugin;
    const settable = provides.filter((key) => key !== 'interceptors');
    const terms = { name, instance: instance.id, readable: [...requires, ...reads, ...provides], settable };
    const has = (part: string) => names.includes(part);
    const intercept =
      (part: 'intercept' | 'outermost'): Intercept =>
      async (request, call, ctx) =>
        (await this.#talk(ctx, instance, terms)).intercept(part, request, call);
    return {
      ...(has('middleware') && {
        middleware: async (ctx: Koa.Context, next: Koa.Next) =>
          (await this.#talk(ctx, instance, terms)).enter(next),
      }),
      ...(has('intercept') && { intercept: intercept('intercept') }),
      ...(has('outermost') && { outermost: intercept('outermost') }),
      ...(has('probe') && { probe: () => this.#act(instance, 'probe') }),
      start: async () => {
        instance.isStarted = true;
        if (has('start')) await this.#act(instance, 'start');
      },
      dispose: () => this.#dispose(instance),
    };
  }

  /** Conversation about a request, with the process that runs now. */
  async #talk(ctx: Koa.Context, instance: Instance, terms: StageTerms): Promise<Conversation> {
    const process = await this.#running(terms.name);
    if (instance.isDry) process.note('time', instance.time);
    const known = this.#byRequest.get(ctx.req) ?? new Map<number, Conversation>();
    this.#byRequest.set(ctx.req, known);
    const before = known.get(instance.id);
    if (before?.process === process && !process.ended) return before;
    const conversation = new Conversation(++this.#lastRequest, process, ctx, terms);
    known.set(instance.id, conversation);
    this.#conversations.set(conversation.id, conversation);
    const { onSettled } = ctx.state as {
      readonly onSettled: (listener: (outcome: never) => unknown) => void;
    }; // of the core
    onSettled(async (outcome) => {
      try {
        await conversation.settle(outcome);
      } finally {
        this.#conversations.delete(conversation.id);
      }
    });
    return conversation;
  }

  async #running(name: string): Promise<StageProcess> {
    try {
      return await this.#supervisor.process();
    } catch (error) {
      throw stageFailure(name, error);
    }
  }

  async #act(instance: Instance, act: string): Promise<void> {
    const process = await this.#supervisor.process();
    await process.call('act', { instance: instance.id, act });
  }

  async #dispose(instance: Instance): Promise<void> {
    if (!this.#instances.delete(instance.id)) return;
    try {
      const process = this.#supervisor.running;
      await process?.call('act', { instance: instance.id, act: 'dispose' });
    } finally {
      instance.close();
      this.#supervisor.rest(instance.isDry || !instance.isStarted);
    }
  }

  #instance(id: unknown): Instance {
    const found = this.#instances.get(Number(id));
    if (!found) throw new Error('The stage is not set up any more.');
    return found;
  }

  #conversation<Result>(
    params: unknown,
    answer: (params: readonly unknown[], found: Conversation) => Promise<Result>,
  ): Promise<Result> {
    const list = listOf(params);
    return answer(list, this.#found(list[0]));
  }

  #found(request: unknown): Conversation {
    const found = this.#conversations.get(Number(request));
    if (!found) throw new Error('The request has ended.');
    return found;
  }

  /** Notes of the child, which name an instance first; those of one that is gone are dropped. */
  #notes(): Readonly<Record<string, (params: unknown) => void>> {
    const ofInstance = (name: string) => (params: unknown) => {
      const [id, given] = listOf(params);
      const process = this.#supervisor.running;
      if (process) this.#instances.get(Number(id))?.notes[name]?.(given, process);
    };
    const ofRequest =
      (take: (instance: Instance, found: Conversation, given: unknown) => void) => (params: unknown) => {
        const [id, rest] = listOf(params);
        const [request, given] = listOf(rest);
        const found = this.#conversations.get(Number(request));
        const instance = this.#instances.get(Number(id));
        if (found && instance) take(instance, found, given);
      };
    const names = ['log', 'announce', 'notice', 'learn', 'metric', 'measure', 'timer', 'cancelCall'];
    return {
      ...Object.fromEntries(names.map((name) => [name, ofInstance(name)])),
      print: (text) => [...this.#instances.values()][0]?.print(text),
      requestLog: ofRequest((instance, { ctx }, given) =>
        instance.log(given, (ctx.state as { log: Logger }).log),
      ),
      tag: ofRequest((_, { ctx }, given) => {
        const [name, value] = listOf(given);
        const { trace } = ctx.state as { readonly trace: { tag(name: string, value: string): void } }; // of the core
        trace.tag(String(name), String(value));
      }),
      caches: (fills) => {
        for (const [id, instance] of this.#instances) instance.setFills(isRecord(fills) ? fills[id] : {});
      },
    };
  }
}
