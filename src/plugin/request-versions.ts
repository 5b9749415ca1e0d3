import type { MessagesRequest } from './contract/messages.js';

/** A request as one stage has left it. */
export interface RequestVersion {
  /** Name of the stage. */
  readonly by: string;
  readonly request: MessagesRequest;
}

/** Versions of a request: first the caller's, then one of each stage that has changed it, last the one that was sent. */
export class RequestVersions {
  readonly #list: RequestVersion[] = [];

  get list(): readonly RequestVersion[] {
    return this.#list;
  }

  /** Adds a request, unless it is that of the last version. */
  add(request: MessagesRequest, by: string): void {
    if (this.#list.at(-1)?.request === request) return;
    if (this.#list.length >= maxVersions) this.#list.pop();
    this.#list.push({ by, request });
  }
}

/** An interceptor may make any number of calls. */
const maxVersions = 100;
