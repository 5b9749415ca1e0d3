import type { StagePlace } from '../../plugin/core.js';
import { EventStream, isGatewayError, type GatewayError } from '../../plugin/index.js';

/** First error of a request, the stage to blame for it, and its later forms. */
export class Blame {
  #thrown: Thrown | undefined;
  readonly #streams = new MadeStreams();

  /** True if a stage has thrown. */
  get isPut(): boolean {
    return this.#thrown !== undefined;
  }

  /** Records the stage of a stream of the answer, to blame if the stream breaks. */
  made(events: unknown, by: StagePlace | undefined): void {
    this.#streams.add(events, by);
  }

  /** Blames an error on a stage that did not throw it from its middleware. */
  put(error: unknown, by: StagePlace | undefined): void {
    this.#thrown = { error, by };
  }

  /** Blames an error that a stage has thrown: on the stage whose stream has broken, else on that of `cause`. */
  thrown(error: unknown, cause: () => StagePlace): void {
    if (!this.#isThrown(error)) this.#thrown = this.#streams.brokenBy(error) ?? { error, by: cause() };
  }

  /** Blames an error that ended the answer on the stage whose stream has broken, if one has. */
  ended(error: GatewayError): void {
    if (!this.#isThrown(error))
      this.#thrown = this.#streams.brokenBy(error.code === 'internal' ? error.cause : error);
  }

  /** Original of an error that a stage's caller received: that of its stream. */
  reasonFor(error: unknown): unknown {
    return (this.#isThrown(error) ? this.#thrown?.reason : undefined) ?? error;
  }

  /** Stage that threw the error first; undefined if no stage did. */
  of(error: unknown): StagePlace | undefined {
    return this.#isThrown(error) ? this.#thrown?.by : undefined;
  }

  /** True for the error that was thrown first, also as its converted GatewayError. */
  #isThrown(error: unknown): boolean {
    if (!this.#thrown) return false;
    if (this.#thrown.error === error) return true;
    return isGatewayError(error) && error.code === 'internal' && error.cause === this.#thrown.error;
  }
}

interface Thrown {
  readonly error: unknown;
  readonly by: StagePlace | undefined;
  /** Error of the stream that its reader failed at; absent: the error itself. */
  readonly reason?: unknown;
}

/** Max streams of a request: those of one answer are fewer, and an interceptor may make any number of calls. */
const maxStreams = 200;

/** Streams of an answer, from the upstream's to the caller's, by the stages that have made them. */
class MadeStreams {
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
