import { createReadStream } from 'node:fs';
import { collectBytes } from '../../../plugin/raw/index.js';
import type { Environment } from '../../../config/environment.js';
import { explain } from '../explain.js';
import type { ExplainRequest } from '../explanation.js';
import type { OpenGateway } from '../../../gateway/gateway.js';
import { loadGatewayConfigFile, otherFile } from '../../../gateway/load-config.js';
import { UsageError } from '../../../gateway/start-failure.js';
import { keysOf } from './key.js';
import { scenariosOf } from '../../dry-run/slot-scenarios.js';
import { explainText } from './text.js';

/** Options of `explain` as the command line gives them. */
export interface ExplainOptions {
  /** File, `-` for the standard input. */
  readonly body: string | undefined;
  readonly post: string;
  /** Name of the key; `none` for a caller without one. */
  readonly as: string | undefined;
  /** `name: value` each. */
  readonly headers: readonly string[];
  /** `SLOT=SCENARIO` each. */
  readonly slots: readonly string[];
  /** `LIMIT=AMOUNT` each: limits of the key. */
  readonly limits: readonly string[];
  /** `LIMIT=AMOUNT` each: use of them when the request comes. */
  readonly used: readonly string[];
  /** The same for the team of the key. */
  readonly teamLimits: readonly string[];
  readonly teamUsed: readonly string[];
  readonly isJson: boolean;
  readonly isColoured: boolean;
}

/** Explains the request in a file as the gateway of a config would handle it. Throws UsageError and ConfigError. */
export async function explainCommand(
  file: string,
  env: Environment,
  options: ExplainOptions,
  openGateway: OpenGateway,
): Promise<{ readonly text: string; readonly exitCode: 0 | 1 }> {
  if (options.body === undefined)
    throw new UsageError('explain takes the request: --body FILE, or --body - to read it.');
  const request: ExplainRequest = {
    path: options.post,
    headers: Object.fromEntries(options.headers.map(headerOf)),
    body: await bodyOf(options.body),
    ...(options.as !== undefined && { key: options.as === 'none' ? null : options.as }),
  };
  const config = await loadGatewayConfigFile(file, env, otherFile);
  const slots = scenariosOf(
    options.slots,
    config.slots.map(({ id }) => id),
  );
  const explanation = await explain(config, request, openGateway, { slots, ...keysOf(options) });
  const text = options.isJson
    ? `${JSON.stringify(explanation, null, 2)}\n`
    : explainText(explanation, options);
  return { text, exitCode: 0 };
}

/** Max bytes of a request. */
const maxBytes = 256 * 1024 * 1024;

const tooLarge = () => new Error(`it has more than ${maxBytes} bytes`);

async function bodyOf(file: string): Promise<string> {
  try {
    const chunks = file === '-' ? process.stdin : createReadStream(file);
    return (await collectBytes(chunks, maxBytes, tooLarge)).toString();
  } catch (error) {
    throw new UsageError(
      `--body ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function headerOf(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^\s*([^\s:]+)\s*:(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--header takes "name: value", not ${JSON.stringify(text)}.`);
  return [name, value.trim()];
}
