import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type FormatName = 'messages' | 'chat' | 'responses';

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
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Feature);
}

export const routes: Readonly<Record<FormatName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};
