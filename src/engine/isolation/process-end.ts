/** Reason why a child process has ended: `idle` if the gateway needs it no more. */
export type EndReason = 'stall' | 'memory' | 'exit' | 'protocol' | 'start' | 'idle';

/** End of a child process. */
export interface ProcessEnd {
  readonly reason: EndReason;
  /** A sentence part that continues "The child process of … ". */
  readonly detail: string;
}

/** Exit of a child process, and what it has written to its error output. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  /** False: its command has not come to the stage, so all of the output is about that. */
  readonly hasStarted: boolean;
}

/** End of a process that has exited, by its code and its error output. */
export function endOf({ code, signal, output, hasStarted }: Exit): ProcessEnd {
  if (/heap out of memory|Reached heap limit/.test(output))
    return { reason: 'memory', detail: 'had no memory left' };
  const how = signal === null ? `ended with the code ${code}` : `was ended by ${signal}`;
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line =
    lines.find((text) => /^\s*(?:\w*Error|FATAL)\b/.test(text)) ?? (hasStarted ? '' : lines.at(-1));
  return { reason: 'exit', detail: line ? `${how} (${line.trim().slice(0, maxLine)})` : how };
}

const maxLine = 300;
