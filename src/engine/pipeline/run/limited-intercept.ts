import { checkReply, skippedReply, type StagePlace } from '../../../plugin/core.js';
import {
  GatewayError,
  type Clock,
  type Intercept,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
} from '../../../plugin/index.js';
import { originalContext } from '../stage/context-view.js';
import { isAnswer, reportSkip, type StageLimits } from './limited.js';

/**
 * Interceptor with a time limit, not counting that of its calls; the call is made without it if it fails before any
 * call and its entry allows that.
 */
export function limitedIntercept(intercept: Intercept, place: StagePlace, limits: StageLimits): Intercept {
  return async (request, call, given) => {
    const ctx = viewOf(given, limits);
    const attempt = new Attempt(call, limits);
    try {
      return checkReply(await attempt.run(intercept, request, ctx));
    } catch (error) {
      const reply = skippedReply(error);
      if (!limits.skips || (attempt.hasCalled && !reply) || isAnswer(error)) throw error;
      reportSkip(ctx, place, error);
      limits.onSkip?.(ctx.state, error);
      return reply ?? (await call(request));
    }
  };
}

/** The view that the stage's middleware was given of a context. */
export function viewOf<Context extends object>(ctx: Context, { views }: StageLimits): Context {
  const raw = originalContext(ctx);
  return (views.get(raw) as Context | undefined) ?? raw; // a view has all that the context has
}

/** One run of an interceptor, up to its reply. */
class Attempt {
  readonly #call: ModelCall;
  readonly #clock: Clock;
  #leftMs: number;
  #sinceMs = 0;
  #underWay = 0;
  #isOver = false;
  /** True once it has replied; calls that continue its answer are not timed. */
  #hasReplied = false;
  #cancelTimer: (() => void) | undefined;
  #giveUp: () => void = () => undefined;
  hasCalled = false;

  constructor(call: ModelCall, { clock, timeoutMs = Infinity }: StageLimits) {
    this.#call = call;
    this.#clock = clock;
    this.#leftMs = timeoutMs;
  }

  async run(
    intercept: Intercept,
    request: MessagesRequest,
    ctx: Parameters<Intercept>[2],
  ): Promise<ModelReply> {
    const message = `Its intercept returned no reply within its timeout of ${this.#leftMs / 1000} s.`;
    const late = new Promise<never>((_resolve, reject) => {
      this.#giveUp = () => {
        this.#isOver = true;
        reject(new Error(message));
      };
    });
    this.#resume();
    const work = (async () => intercept(request, this.#counted, ctx))();
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      if (this.#isOver) work.then(drop, () => undefined); // nobody waits for it any more
      throw error;
    } finally {
      this.#hasReplied = true;
      this.#cancelTimer?.();
    }
  }

  readonly #counted: ModelCall = async (request, options) => {
    if (this.#isOver) throw new GatewayError('internal', 'The interceptor made its call too late.');
    this.hasCalled = true;
    this.#underWay += 1;
    this.#pause();
    try {
      return await this.#call(request, options);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0 && !this.#isOver) this.#resume();
    }
  };

  #pause(): void {
    if (this.#underWay > 1) return;
    this.#cancelTimer?.();
    this.#leftMs -= this.#clock.monotonicMs() - this.#sinceMs;
  }

  #resume(): void {
    if (this.#hasReplied) return;
    this.#sinceMs = this.#clock.monotonicMs();
    if (this.#leftMs !== Infinity)
      this.#cancelTimer = this.#clock.setTimer(this.#giveUp, Math.max(0, this.#leftMs));
  }
}

/** Cancels a late reply. */
function drop(reply: unknown): void {
  const { events } = Object(reply) as Partial<ModelReply>; // a plugin may have given anything
  if (typeof events?.cancel === 'function') events.cancel();
}
