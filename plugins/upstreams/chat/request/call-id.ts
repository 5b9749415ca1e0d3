import { sha256, shortCallId } from '../../shared/openai/tool-names.js';
import type { Capabilities } from '../capabilities.js';

/** Id of a tool call as the server takes it: the same each time, so that calls and results agree. */
export function callId(id: string, { toolCallIds }: Pick<Capabilities, 'toolCallIds'>): string {
  if (toolCallIds === 'any') return shortCallId(id);
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : sha256(id).slice(0, 9);
}
