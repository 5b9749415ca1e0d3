import { ConfigError } from '../config/config.js';

/** What the command line or the environment got wrong: one message, no stack trace, and this exit code. */
export class UsageError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A start that cannot be, as it is told to whoever started it. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
}

/** What is to be said and not to be debugged; undefined for any other error. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ConfigError) return { exitCode: 1, message: error.message };
  if (error instanceof UsageError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof Error && isParseError(error)) return { exitCode: 2, message: firstSentence(error) };
  return undefined;
}

function isParseError(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/** Of what parseArgs says the second sentence is about arguments that we do not have. */
function firstSentence({ message }: Error): string {
  return `${message.replace(/\.( .*)?$/s, '')}; see --help.`;
}
