import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type FormatName = 'messages' | 'chat' | 'responses' | 'completions';

/** Feature of a request: a body of a caller, without its model. */
export interface Feature {
  readonly name: string;
  readonly format: FormatName;
  readonly body: Readonly<Record<string, unknown>>;
}

const file = join(process.cwd(), '../shared/features.jsonl');

/** Features of the shared file; none where it is missing. */
export function sharedFeatures(): readonly Feature[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  const features = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Feature);
  return [...features, ...features.flatMap(asCompletion)];
}

/** Settings of Chat that Completions has, too. */
const common = new Set(
  (
    'stop n seed frequency_penalty presence_penalty logit_bias temperature top_p top_k min_p user metadata store' +
    ' service_tier'
  ).split(' '),
);

/** A setting of a Chat request as one of a completion. */
function asCompletion({ name, format, body }: Feature): readonly Feature[] {
  const { messages: _, ...settings } = body;
  const isCommon = format === 'chat' && Object.keys(settings).every((field) => common.has(field));
  if (!isCommon || Object.keys(settings).length === 0) return [];
  return [{ name, format: 'completions', body: { prompt: 'x', ...settings } }];
}

export const routes: Readonly<Record<FormatName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  completions: '/v1/completions',
};
