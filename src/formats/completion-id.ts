import type { MessagesResponse } from '../plugin/index.js';

/** The answer's id upstream, in the form that the dialect has: `msg_01X` becomes `chatcmpl-01X`. */
export function completionId(prefix: 'chatcmpl' | 'cmpl', { id }: MessagesResponse): string {
  return `${prefix}-${id.replace(/^msg_/, '')}`;
}
