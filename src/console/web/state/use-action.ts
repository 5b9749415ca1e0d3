import { useState } from 'preact/hooks';
import { toPanelError, type PanelError } from '../api/panel-error.js';
import { toast } from './toasts.js';

export interface Action {
  readonly isBusy: boolean;
  readonly error: PanelError | undefined;
  /** Gives whether it went well. A second call while the first is under way does nothing. */
  run(work: () => Promise<void>): Promise<boolean>;
}

/** One thing that an operator does and waits for. Its error is kept for the form it belongs to. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<PanelError>();
  const run = async (work: () => Promise<void>) => {
    if (isBusy) return false;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (thrown) {
      setError(toPanelError(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}

/** Does `work` from a place that has no room for an error: says in a toast how it went. */
export async function tell(done: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    toast(done);
  } catch (error) {
    toast(toPanelError(error).message, 'bad');
  }
}
