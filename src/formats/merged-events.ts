import type { ModelEventBatch, ModelEvents } from '../plugin/index.js';

/**
 * Merges several replies by order of arrival, with at most one batch of each buffered; the events of source
 * `i` carry choice `i`. If one throws, or the reader leaves, all others are ended.
 */
export function mergeEvents(sources: readonly ModelEvents[]): ModelEvents {
  return {
    [Symbol.asyncIterator]: () => {
      const iterators = sources.map((events) => events[Symbol.asyncIterator]());
      const batches = interleave(iterators);
      return {
        next: () => batches.next(),
        // Ended at once, and not only when the batch arrives that the generator may be waiting for.
        return: () => {
          endAll(iterators);
          return batches.return(undefined);
        },
      };
    },
  };
}

type Source = AsyncIterator<ModelEventBatch>;

interface Arrival {
  readonly choice: number;
  readonly outcome: { readonly result: IteratorResult<ModelEventBatch> } | { readonly error: unknown };
}

async function* interleave(sources: readonly Source[]): AsyncGenerator<ModelEventBatch, undefined> {
  const arrivals = new Arrivals();
  const pull = (source: Source, choice: number): void =>
    void source.next().then(
      (result) => arrivals.push({ choice, outcome: { result } }),
      (error: unknown) => arrivals.push({ choice, outcome: { error } }),
    );
  try {
    sources.forEach(pull);
    for (let open = sources.length; open > 0;) {
      const { choice, outcome } = await arrivals.shift();
      if ('error' in outcome) throw outcome.error;
      if (outcome.result.done) {
        open -= 1;
        continue;
      }
      yield outcome.result.value.map((event) => event.withChoice(choice));
      const source = sources[choice];
      if (source) pull(source, choice);
    }
  } finally {
    endAll(sources);
  }
}

/** Ends all sources without waiting for them: a read may take long, and its result no longer matters. */
function endAll(sources: readonly Source[]): void {
  for (const source of sources) source.return?.().catch(() => undefined);
}

/** Queue of arrivals for one reader. */
class Arrivals {
  readonly #waiting: Arrival[] = [];
  #wake: (() => void) | undefined;

  push(arrival: Arrival): void {
    this.#waiting.push(arrival);
    this.#wake?.();
  }

  async shift(): Promise<Arrival> {
    for (;;) {
      const arrival = this.#waiting.shift();
      if (arrival) return arrival;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
