import { useEffect, useRef, useState } from 'preact/hooks';
import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import type { GivenRequest } from '../../../console/web/request-form/request-form.js';
import type { AnswerHead, Progress } from '../playground-run.js';
import { toConsoleError, stream, type ConsoleError } from '../../../console/web/api/call.js';

/** Progress of a request of the playground. */
export interface PlaygroundState {
  readonly isRunning: boolean;
  readonly requestId?: string;
  readonly progress?: Progress;
  readonly head?: AnswerHead;
  /** Text of the answer as it arrived. */
  readonly answer: string;
  /** Present once it has ended; null if it reached no model. */
  readonly request?: OpenedRequest | null;
  readonly problem?: ConsoleError;
}

interface Playground extends PlaygroundState {
  readonly run: (call: GivenRequest) => void;
  readonly stop: () => void;
}

/** Runs one request at a time; leaving the page aborts it. */
export function usePlayground(): Playground {
  const [state, setState] = useState<PlaygroundState>({ isRunning: false, answer: '' });
  const controller = useRef<AbortController | undefined>(undefined);
  const stop = () => controller.current?.abort();
  useEffect(() => stop, []);
  const run = async (call: GivenRequest): Promise<void> => {
    stop();
    const own = new AbortController();
    controller.current = own;
    const change = (
      fields: Partial<PlaygroundState> | ((last: PlaygroundState) => Partial<PlaygroundState>),
    ) => {
      if (controller.current === own)
        setState((last) => ({ ...last, ...(typeof fields === 'function' ? fields(last) : fields) }));
    };
    setState({ isRunning: true, answer: '' });
    const take = (type: string, data: unknown): void => change((last) => fieldsOf(last, type, data));
    try {
      await stream('/playground', call, own.signal, take);
    } catch (error) {
      if (!own.signal.aborted) change({ problem: toConsoleError(error) });
    }
    change({ isRunning: false });
  };
  return { ...state, run: (call) => void run(call), stop };
}

/** Change of the state by an event; its data is as the API sends it. */
function fieldsOf(last: PlaygroundState, type: string, data: unknown): Partial<PlaygroundState> {
  if (type === 'start') return { requestId: (data as { readonly request_id: string }).request_id };
  if (type === 'progress') return { progress: data as Progress };
  if (type === 'head') return { head: data as AnswerHead };
  if (type === 'data')
    return { answer: (last.answer + (data as { readonly text: string }).text).slice(-maxAnswer) };
  if (type === 'done') return { request: (data as { readonly request: OpenedRequest | null }).request };
  return {};
}

/** Characters of an answer that are shown, the last ones of a longer one. */
const maxAnswer = 500_000;
