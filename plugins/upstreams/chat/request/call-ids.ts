import { createHash } from 'node:crypto';
import type { Capabilities } from '../capabilities.js';

/** Id of a tool call as the server takes it: the same each time, so that calls and results agree. */
export function callId(id: string, { toolCallIds }: Pick<Capabilities, 'toolCallIds'>): string {
  if (toolCallIds === 'nine') return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hash(id).slice(0, 9);
  return id.length <= maxLength ? id : `call_${hash(id).slice(0, 32)}`;
}

/** Limit of OpenAI. */
const maxLength = 40;

function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
