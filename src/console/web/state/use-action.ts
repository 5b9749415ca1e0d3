import { useRef, useState } from 'preact/hooks';
import { toConsoleError, type ConsoleError } from '../api/call.js';
import { toast } from './toasts.js';

export interface Action {
  readonly isBusy: boolean;
  readonly error: ConsoleError | undefined;
  /** Returns true if it succeeded. A second call while the first one runs does nothing. */
  run(work: () => Promise<void>): Promise<boolean>;
}

/** An action of the operator with its progress and error. The error is kept for the form that shows it. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false); // true at once, not from the next rendering on
  const [error, setError] = useState<ConsoleError>();
  const run = async (work: () => Promise<void>) => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (thrown) {
      setError(toConsoleError(thrown));
      return false;
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}

/** Runs `work` and shows its result in a toast, for places without room for an error. */
export async function runWithToast(done: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    toast(done);
  } catch (error) {
    toast(toConsoleError(error).message, 'bad');
  }
}
