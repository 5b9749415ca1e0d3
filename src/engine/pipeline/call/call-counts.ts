/** Max open calls of one request, and of no request. */
const maxOfRequest = 8;
const maxOfKeys = 64;

/** Open calls of a pipeline's stages, by the traces of their requests. */
export class CallCounts {
  readonly #ofRequests = new WeakMap<object, number>();
  #ofKeys = 0;

  /**
   * Counts a call of a request, or of none until the returned function is called. Throws a RangeError beyond the
   * maximum.
   */
  begin(trace: object | undefined): () => void {
    const [open, max] = trace ? [this.#ofRequests.get(trace) ?? 0, maxOfRequest] : [this.#ofKeys, maxOfKeys];
    if (open >= max) {
      const whose = trace ? 'of this request' : 'by billTo';
      throw new RangeError(`host.call: ${max} calls ${whose} are under way; wait for one of them.`);
    }
    this.#add(trace, 1);
    return () => this.#add(trace, -1);
  }

  #add(trace: object | undefined, count: number): void {
    if (trace) this.#ofRequests.set(trace, (this.#ofRequests.get(trace) ?? 0) + count);
    else this.#ofKeys += count;
  }
}
