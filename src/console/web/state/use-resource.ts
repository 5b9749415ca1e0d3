import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toConsoleError, type ConsoleError } from '../api/call.js';
import { useStore, createStore } from './store.js';
import { useVisible } from './visible.js';

export interface Resource<Data> {
  /** The last answer; kept while the next one is loaded, and if that fails. */
  readonly data: Data | undefined;
  readonly error: ConsoleError | undefined;
  /** True if the answer belongs to an earlier `key`. */
  readonly isStale: boolean;
  readonly reload: () => void;
}

interface Answer<Data> {
  readonly key: string;
  readonly data: Data | undefined;
  readonly error: ConsoleError | undefined;
}

/**
 * Loads data and reloads it when `key` changes and every `everyMs` while the tab is visible. Calls the latest
 * `load`.
 */
export function useResource<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  everyMs?: number,
): Resource<Data> {
  const [answer, setAnswer] = useState<Answer<Data>>({ key, data: undefined, error: undefined });
  const [turn, setTurn] = useState(0);
  const refreshed = useStore(refreshes);
  const isVisible = useVisible();
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    if (!isVisible) return undefined;
    const controller = new AbortController();
    const poll = new Poll(everyMs, async () => {
      const next = await attempt(latest.current, controller.signal);
      if (controller.signal.aborted) return;
      setAnswer((last) => ({ key, data: 'data' in next ? next.data : last.data, error: next.error }));
    });
    return () => {
      controller.abort();
      poll.end();
    };
  }, [key, turn, refreshed, everyMs, isVisible]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);
  return { data: answer.data, error: answer.error, isStale: answer.key !== key, reload };
}

type Attempt<Data> = { readonly data: Data; readonly error: undefined } | { readonly error: ConsoleError };

async function attempt<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  signal: AbortSignal,
): Promise<Attempt<Data>> {
  try {
    return { data: await load(signal), error: undefined };
  } catch (error) {
    return { error: toConsoleError(error) };
  }
}

/**
 * Poll: calls once, then again some time after each call has ended, so that calls to a slow gateway do not
 * overlap.
 */
class Poll {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(everyMs: number | undefined, ask: () => Promise<void>) {
    const turn = async () => {
      await ask();
      if (everyMs !== undefined && !this.#ended) this.#timer = setTimeout(() => void turn(), everyMs);
    };
    void turn();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }
}

/** Number of times that the operator has requested fresh data, each of which reloads every resource of the page. */
const refreshes = createStore(0);

export function refresh(): void {
  refreshes.set(refreshes.get() + 1);
}
