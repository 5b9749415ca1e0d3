import type { StagePlace } from '../../plugin/core.js';
import { EventStream } from '../../plugin/index.js';

/** Max streams of a request: those of one answer are fewer, and an interceptor may make any number of calls. */
const maxStreams = 200;

/** Streams of an answer, from the upstream's to the caller's, by the stages that have made them. */
export class MadeStreams {
  readonly #streams: MadeStream[] = [];

  add(events: unknown, by: StagePlace | undefined): void {
    if (!(events instanceof EventStream) || this.#streams.at(-1)?.events === events) return;
    this.#streams.push({ events, by });
    if (this.#streams.length > maxStreams) this.#streams.shift(); // of a call whose answer is not the one sent
  }

  /** The first stream that has failed with an error, which those below it only pass on. */
  brokenBy(error: unknown): Thrown | undefined {
    for (const { events, by } of this.#streams) {
      const reason = events.reasonFor(error);
      if (reason !== undefined) return { error, by, reason };
    }
    return undefined;
  }
}

interface MadeStream {
  readonly events: EventStream;
  readonly by: StagePlace | undefined;
}

/** First error of a request, and the stage to blame. */
export interface Thrown {
  readonly error: unknown;
  readonly by: StagePlace | undefined;
  /** Error of the stream that its reader failed at; absent: the error itself. */
  readonly reason?: unknown;
}
