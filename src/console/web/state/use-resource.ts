import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toPanelError, type PanelError } from '../api/panel-error.js';
import { useVisible } from './visible.js';

export interface Resource<Data> {
  /** The last answer; it stays while the next one is fetched, and when that fails. */
  readonly data: Data | undefined;
  readonly error: PanelError | undefined;
  /** The answer shown is to an earlier question. */
  readonly isStale: boolean;
  readonly reload: () => void;
}

interface Answer<Data> {
  readonly key: string;
  readonly data: Data | undefined;
  readonly error: PanelError | undefined;
}

/**
 * What `load` gives, fetched again where `key` changes and every `everyMs` while the tab is seen. `load` is called with
 * the latest closure.
 */
export function useResource<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  everyMs?: number,
): Resource<Data> {
  const [answer, setAnswer] = useState<Answer<Data>>({ key, data: undefined, error: undefined });
  const [turn, setTurn] = useState(0);
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
  }, [key, turn, everyMs, isVisible]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);
  return { data: answer.data, error: answer.error, isStale: answer.key !== key, reload };
}

type Attempt<Data> = { readonly data: Data; readonly error: undefined } | { readonly error: PanelError };

async function attempt<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  signal: AbortSignal,
): Promise<Attempt<Data>> {
  try {
    return { data: await load(signal), error: undefined };
  } catch (error) {
    return { error: toPanelError(error) };
  }
}

/** Calls once, and then again a while after each call has ended: a slow gateway is not asked twice at a time. */
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
