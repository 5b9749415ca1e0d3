import { createHash } from 'node:crypto';

/** Limit of OpenAI; tools of MCP servers have longer names. */
const maxLength = 64;

/** Names of the tools of one request within OpenAI's limit, and the caller's own for those of its answer. */
export class ToolNames {
  readonly #own = new Map<string, string>();

  /** Name to send: always the same, for the prompt cache of the server. */
  short(name: string): string {
    if (name.length <= maxLength) return name;
    const short = `${name.slice(0, maxLength - 9)}_${sha256(name).slice(0, 8)}`;
    this.#own.set(short, name);
    return short;
  }

  /** Caller's name of a tool that an answer names. */
  own(name: string): string {
    return this.#own.get(name) ?? name;
  }
}

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
