import type { DryOutcome } from './outcome.js';

type Line = DryOutcome['log'][number];

/** Max requests whose lines are kept until they are taken. */
const maxRequests = 1000;

/** Max lines of one request. */
const maxLines = 100;

/** Destination of a log that keeps its lines by the request that they are about. */
export class WarningLog {
  readonly #byRequest = new Map<string, Line[]>();

  /** Takes a line of JSON. */
  write(text: string): void {
    const { id, level, msg } = JSON.parse(text) as { id?: string; level: string; msg: string }; // the logger's own
    if (id === undefined) return;
    const lines = this.#byRequest.get(id) ?? [];
    if (lines.length < maxLines) lines.push({ level, message: msg });
    this.#byRequest.set(id, lines);
    const oldest = this.#byRequest.keys().next();
    if (this.#byRequest.size > maxRequests && !oldest.done) this.#byRequest.delete(oldest.value);
  }

  /** Lines of a request, which are forgotten. */
  take(id: string): readonly Line[] {
    const lines = this.#byRequest.get(id) ?? [];
    this.#byRequest.delete(id);
    return lines;
  }
}
