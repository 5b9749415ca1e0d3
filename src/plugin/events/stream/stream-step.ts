import type { ModelEventBatch } from '../events.js';
import { StreamController, type Flow, type Pipe, type Sink } from './stream-controller.js';

/** Synchronous step of a stream. Its errors fail the stream and cancel the source. */
export interface Transform<In = ModelEventBatch, Out = In> {
  /** Returns the remaining batch; undefined for nothing. */
  transform(batch: In): Out | undefined;
  /** True once the output is complete: it is flushed, and the rest of the source is drained unread. */
  readonly isOver?: boolean;
  /** Returns the last output, at the end of the source; the only method that may wait. */
  flush?(): Out | undefined | Promise<Out | undefined>;
  /** Returns the last output of a stream that fails; the error follows it. */
  fail?(error: unknown): Out | undefined;
  /** Called if the reader leaves before the end. */
  cancel?(reason: unknown): void;
}

/** Makes a fresh transform for each stream. */
export type TransformFactory = () => Transform;

type Phase = 'open' | 'flushing' | 'draining' | 'over';

/** Runs a transform between two streams. */
export class Step<In, Out> implements Sink<In>, Flow {
  readonly controller = new StreamController<Out>(this);
  readonly #source: Flow;
  readonly #transform: Transform<In, Out>;
  #phase: Phase = 'open';
  readonly #cancelsRest: boolean;
  #hasSourceEnded = false;

  /** `cancelsRest`: once the transform is over, the source is cancelled instead of drained. */
  constructor(source: Pipe<In>, transform: Transform<In, Out>, cancelsRest = false) {
    this.#source = source.pipe(this);
    this.#transform = transform;
    this.#cancelsRest = cancelsRest;
  }

  write(batch: In): boolean {
    if (this.#phase !== 'open') return this.#phase !== 'over';
    try {
      const out = this.#transform.transform(batch);
      const hasRoom = out === undefined || this.controller.write(out);
      if (this.#transform.isOver) this.#flush();
      else return hasRoom;
    } catch (error) {
      this.controller.blame(this.#source.faultAt?.(batch, error));
      this.#fail(error);
    }
    return true;
  }

  end(error?: unknown): void {
    this.#hasSourceEnded = true;
    if (this.#phase === 'draining') this.#close();
    if (this.#phase !== 'open') return;
    if (error === undefined) this.#flush();
    else this.#fail(error);
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(reason?: unknown): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    try {
      this.#transform.cancel?.(reason);
    } catch {
      // The reader has left: there is nobody to report it to.
    }
    this.#source.cancel(reason);
  }

  #flush(): void {
    this.#phase = 'flushing';
    try {
      const last = this.#transform.flush?.();
      if (last instanceof Promise) last.then(this.#drain, this.#fail);
      else this.#drain(last);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #drain = (last: Out | undefined): void => {
    if (this.#phase !== 'flushing') return;
    this.#phase = 'draining';
    if (last !== undefined) this.controller.write(last);
    if (!this.#hasSourceEnded && this.#cancelsRest) this.#source.cancel();
    if (this.#hasSourceEnded || this.#cancelsRest) this.#close();
    else this.#source.resume();
  };

  #close(): void {
    this.#phase = 'over';
    this.controller.end();
  }

  readonly #fail = (error: unknown): void => {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#source.cancel(error);
    const last = this.#lastOutput(error);
    if (last !== undefined) this.controller.write(last);
    this.controller.fail(error);
  };

  #lastOutput(error: unknown): Out | undefined {
    try {
      return this.#transform.fail?.(error);
    } catch {
      return undefined; // the first error is the one to report
    }
  }
}
