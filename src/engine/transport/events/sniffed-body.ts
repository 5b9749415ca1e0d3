import type { Backpressure, BodySink } from '../body.js';

/** Body whose first bytes show whether it is server-sent events; they are kept for its reader. */
export class SniffedBody implements BodySink {
  readonly #flow: Backpressure;
  #chunks: Buffer[] = [];
  #target: BodySink | undefined;
  #ended: { readonly error: unknown } | undefined;
  #decide: (isEvents: boolean) => void = () => undefined;
  /** True for server-sent events; false also for a body that ends before they can be recognised. */
  readonly isEvents = new Promise<boolean>((resolve) => {
    this.#decide = resolve;
  });

  constructor(flow: Backpressure) {
    this.#flow = flow;
  }

  write(chunk: Buffer): boolean {
    if (this.#target) return this.#target.write(chunk);
    this.#chunks.push(chunk);
    const isEvents = beginsEvents(Buffer.concat(this.#chunks).toString('latin1', 0, maxSearched));
    if (isEvents === undefined) return true;
    this.#decide(isEvents);
    return false;
  }

  end(error?: unknown): void {
    if (this.#target) return this.#target.end(error);
    this.#ended = { error };
    this.#decide(false);
  }

  /** Hands the body to its reader. */
  read<Body extends BodySink>(open: (flow: Backpressure) => Body): Body {
    const body = open(this.#flow);
    this.#target = body;
    const chunks = this.#chunks.splice(0);
    const hasRoom = chunks.length === 0 || body.write(Buffer.concat(chunks));
    if (this.#ended) body.end(this.#ended.error);
    else if (hasRoom) this.#flow.resume();
    return body;
  }
}

const maxSearched = 1024;

/** True for the beginning of server-sent events, false for that of anything else, undefined if it is too short. */
function beginsEvents(bytes: string): boolean | undefined {
  const text = bytes.replace(/^\u00ef\u00bb\u00bf/, '').trimStart();
  if (field.test(text)) return true;
  const isShort = bytes.length < maxSearched && fieldNames.some((name) => name.startsWith(text));
  return isShort ? undefined : false;
}

/** A comment, or a field of an event. */
const field = /^(?:data|event|id|retry)?:/;
const fieldNames = ['data', 'event', 'id', 'retry'];
