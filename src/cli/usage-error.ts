import { ConfigError } from '../config/config.js';

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
  if (error instanceof Error && isParseError(error)) return { exitCode: 2, message: firstSentence(error) };
  return undefined;
}

function isParseError(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/**
 * First sentence of a message of parseArgs; its second is about arguments that this program does not have.
 */
function firstSentence({ message }: Error): string {
  return `${message.replace(/\.( .*)?$/s, '')}; see --help.`;
}
