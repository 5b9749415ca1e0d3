import type { StageConfig } from '../../../config/config.js';
import { callSignal } from '../../../plugin/raw/index.js';
import { checkReply, defaultPipeline, type Slots } from '../../../plugin/core.js';
import {
  GatewayError,
  type Caller,
  type CallSupport,
  type Clock,
  type Host,
  type HostCallOptions,
  type Logger,
  type MessagesRequest,
  type ModelReply,
  type Models,
  type PickPolicy,
} from '../../../plugin/index.js';
import type { Conditional } from '../order/when.js';
import { CallCounts } from './call-counts.js';
import { ofRequest, outgoingRequest, requireCallArguments } from './call-options.js';
import type { OpenCalls } from './open-calls.js';
import { failedBy, wholeReply } from './call-result.js';
import { RunningCall, type CallOrigin } from './running-call.js';

/** Services that the calls of a pipeline use. */
export interface PipelineCallServices {
  readonly log: Logger;
  readonly clock: Clock;
  readonly models: Models;
  readonly slots: Pick<Slots, 'picker'>;
  readonly openCalls: OpenCalls;
  /** Caller with a key by its id, or `master`. Throws `forbidden` for an unknown one. */
  readonly callerOf: (keyId: string) => Promise<Caller>;
}

/** Stage of a list, with the condition of its requests. */
export interface ListedStage {
  readonly config: StageConfig;
  readonly takes: ((request: Conditional) => boolean) | undefined;
}

/** Pipeline that has been set up. */
export interface CallingPipeline {
  readonly lists: ReadonlyMap<string, readonly ListedStage[]>;
  /** Default policy. */
  readonly policy: () => PickPolicy;
  enter(): void;
  leave(): void;
  /** True once a reload has replaced it. */
  isRetired(): boolean;
}

/** Calls that the stages of one pipeline make by `host.call`. */
export class PipelineCalls {
  readonly #services: PipelineCallServices;
  readonly #supports = new Map<StageConfig, CallSupport>();
  readonly #counts = new CallCounts();
  #pipeline: CallingPipeline | undefined;

  constructor(services: PipelineCallServices) {
    this.#services = services;
  }

  /** Adds the parts of a stage. Throws a TypeError on other names than those of the parts. */
  support(stage: StageConfig, support: CallSupport): void {
    const unknown = Object.keys(support).find((name) => !partNames.includes(name));
    if (unknown !== undefined)
      throw new TypeError(
        `host.supportCalls: unknown part "${unknown}"; known parts: ${partNames.join(', ')}.`,
      );
    this.#supports.set(stage, { ...this.#supports.get(stage), ...support });
  }

  /** Lets stages make calls, once all of them are set up. */
  open(pipeline: CallingPipeline): void {
    this.#pipeline = pipeline;
  }

  /** `host.call` of a stage. */
  callOf(stage: string): Host['call'] {
    return (request, options) => this.#call(stage, request, options);
  }

  async #call(stage: string, request: MessagesRequest, options: HostCallOptions): Promise<ModelReply> {
    requireCallArguments(request, options);
    const pipeline = this.#pipeline;
    if (!pipeline) throw new Error('host.call cannot be used in setup: it is for requests and timers.');
    this.#services.openCalls.requireOpen(options.ctx !== undefined);
    if (!options.ctx && pipeline.isRetired())
      throw new GatewayError('shutting_down', 'A reload has replaced the pipeline of this stage.');
    const end = this.#counts.begin(options.ctx?.state.trace);
    pipeline.enter();
    try {
      const origin = options.ctx ? ofRequest(options) : await this.#ofKey(options.billTo);
      return await this.#run(pipeline, { stage, request, origin, options });
    } finally {
      end();
      pipeline.leave();
    }
  }

  async #ofKey(keyId: string): Promise<CallOrigin> {
    const caller = await this.#services.callerOf(keyId);
    const { pipeline = defaultPipeline } = caller;
    return { caller, format: 'messages', pipeline, path: '', headers: {} };
  }

  async #run(pipeline: CallingPipeline, asked: AskedCall): Promise<ModelReply> {
    const { openCalls, clock, log, models } = this.#services;
    const { label, headers = {}, slots, signal } = asked.options;
    const request = outgoingRequest(asked.request, models);
    const { now } = clock;
    const call = new RunningCall(
      { ...asked, request, label, headers },
      { log, now, costSoFar: openCalls.costSoFar },
    );
    openCalls.add(call);
    const onAbort = (): void => call.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    const cancelTimer = clock.setTimer(() => call.abort(tooLong()), maxMs);
    const result = await openCalls
      .within(label, () => this.#ask(pipeline, call, slots))
      .then(
        (reply) => ({ outcome: 'completed', reply }) as const,
        (thrown: unknown) => failedBy(thrown, call, signal?.aborted === true),
      );
    cancelTimer();
    signal?.removeEventListener('abort', onAbort);
    openCalls.end({ call, ...result });
    if ('reply' in result) return result.reply;
    throw result.thrown;
  }

  async #ask(
    pipeline: CallingPipeline,
    call: RunningCall,
    slots: readonly string[] | undefined,
  ): Promise<ModelReply> {
    const { state } = call;
    const signal = callSignal(state);
    signal.throwIfAborted();
    const supports = this.#supportsOf(pipeline, call);
    for (const { admit } of supports) await admit?.(call);
    signal.throwIfAborted();
    const model = supports.find((support) => support.model)?.model;
    if (!model) throw new Error(noModelCall);
    const terms = supports.find(({ pick }) => pick)?.pick?.(call) ?? defaultTerms(pipeline);
    state.picker = this.#services.slots.picker({
      ...terms,
      ...(slots && { slots }),
      caller: state.caller,
      isBudgeted: () => state.budgeted,
      signal,
      trace: state.trace,
    });
    return wholeReply(checkReply(await model(call)(state.request)));
  }

  /** Parts of the stages that a request of this call would pass; of alternatives those of the first that takes it. */
  #supportsOf({ lists }: CallingPipeline, { state, origin }: RunningCall): readonly CallSupport[] {
    const list = lists.get(origin.pipeline);
    if (!list) throw unknownPipeline(origin.pipeline);
    const request: Conditional = { state, headers: origin.headers, path: origin.path };
    const taken = new Set<object>();
    return list.flatMap(({ config, takes }) => {
      const { group } = config;
      if ((group && taken.has(group)) || (takes && !takes(request))) return [];
      if (group) taken.add(group);
      return this.#supports.get(config) ?? [];
    });
  }
}

interface AskedCall {
  readonly stage: string;
  readonly request: MessagesRequest;
  readonly origin: CallOrigin;
  readonly options: HostCallOptions;
}

const partNames: readonly string[] = ['admit', 'pick', 'model'] satisfies readonly (keyof CallSupport)[];

/** Max time of a call, which no caller may wait for. */
const maxMs = 3_600_000;

const queueTimeoutMs = 30_000;

const noModelCall =
  'host.call: no stage of the pipeline makes calls; list upstream-call, or a stage that brings `model` by host.supportCalls.';

function defaultTerms({ policy }: CallingPipeline) {
  return { policy: policy(), queueTimeoutMs };
}

function tooLong(): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `A call of a stage did not end within ${maxMs / 60_000} minutes.`,
  );
}

function unknownPipeline(name: string): GatewayError {
  return new GatewayError(
    'forbidden',
    `The pipeline ${JSON.stringify(name)} of this key is not in the config.`,
  );
}
