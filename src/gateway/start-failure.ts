import { ConfigError, StartError } from '../config/config.js';

/**
 * Error of the command line or the environment: printed as one message without a stack trace, then the
 * process exits with this code.
 */
export class UsageError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A failed start: exit code and message for the terminal. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
}

/** The failure to print for an error of the user; undefined for any other error, which is a bug. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ConfigError) return { exitCode: 1, message: error.message };
  if (error instanceof UsageError) return { exitCode: error.exitCode, message: error.message };
  return undefined;
}

/**
 * Error of a start; with exit code 78 (EX_CONFIG) if the config is refused, as `check` does: another start would end
 * the same way.
 */
export function startFailure(error: unknown): unknown {
  const isRefused = error instanceof ConfigError && !(error instanceof StartError);
  return isRefused ? new UsageError(error.message, refusedConfigCode) : error;
}

/** Exit code of a gateway that refuses its config or its secrets. */
export const refusedConfigCode = 78;

/** Explains a listen error, with the fix. */
export function listenProblem(error: unknown, { host, port }: { host: string; port: number }): UsageError {
  const code = (error as NodeJS.ErrnoException).code ?? ''; // fields of a listen error
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process is listening there; stop it or set another port (PORT=8788)',
    EACCES: 'that port needs more privileges; use one above 1023 (PORT=8787)',
    EADDRNOTAVAIL: 'this machine has no such address; set HOST=0.0.0.0 for all addresses',
  };
  return new UsageError(`Cannot listen on ${host}:${port}: ${reasons[code] ?? String(error)}.`);
}
