import { createHash } from 'node:crypto';

/** Id of a tool call within OpenAI's limit: the same each time, so that calls and results agree. */
export function shortCallId(id: string): string {
  return id.length <= 40 ? id : `call_${sha256(id).slice(0, 32)}`;
}

/** Name of a user within OpenAI's limit; agent CLIs send longer ones. */
export function shortUser(user: string): string {
  return user.length <= 64 ? user : sha256(user);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
