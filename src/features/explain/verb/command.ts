import { createReadStream } from 'node:fs';
import { collectBytes } from '../../../plugin/raw/index.js';
import { explain } from '../explainer.js';
import type { ExplainRequest } from '../explanation.js';
import { loadGatewayConfigFile, otherFile } from '../../../gateway/load-config.js';
import { UsageError } from '../../../gateway/start-failure.js';
import type { VerbCall, VerbResult } from '../../feature.js';
import { keysOf, type GivenKey } from './key.js';
import { scenariosOf } from '../../dry-run/slot-scenarios.js';
import { explainText } from './text.js';

/** Options of `explain` as the command line gives them. */
export interface ExplainValues extends GivenKey {
  readonly config?: string;
  /** File, `-` for the standard input. */
  readonly body?: string;
  readonly post?: string;
  /** `name: value` each. */
  readonly header?: readonly string[];
  /** `SLOT=SCENARIO` each. */
  readonly slot?: readonly string[];
  readonly json?: boolean;
}

/** Explains the request in a file as the gateway of a config would handle it. Throws UsageError and ConfigError. */
export async function run({
  values,
  env,
  isColoured,
  configFile,
  openGateway,
}: VerbCall<ExplainValues>): Promise<VerbResult> {
  const file = await configFile(values.config);
  const { body, post = '/v1/messages', as, header: headers = [], slot = [], json = false } = values;
  if (body === undefined)
    throw new UsageError('explain needs the request: --body FILE, or --body - for standard input.');
  const request: ExplainRequest = {
    path: post,
    headers: Object.fromEntries(headers.map(headerOf)),
    body: await bodyOf(body),
    ...(as !== undefined && { key: as === 'none' ? null : as }),
  };
  const config = await loadGatewayConfigFile(file, env, otherFile);
  const slots = scenariosOf(
    slot,
    config.slots.map(({ id }) => id),
  );
  const explanation = await explain(config, request, openGateway, { slots, ...keysOf(values) });
  const text = json ? `${JSON.stringify(explanation, null, 2)}\n` : explainText(explanation, { isColoured });
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
