import { type MessagesRequest, isGatewayError } from '../../plugin/index.js';
import type { StagePlace } from '../../plugin/core.js';
import { shapeFault } from './state-shapes.js';

/** A request as one stage has left it. */
export interface RequestVersion {
  /** Name of the stage. */
  readonly by: string;
  readonly request: MessagesRequest;
}

/** Versions of a request: first the caller's, then one of each stage that has changed it, last the one that was sent. */
export class RequestVersions {
  readonly #list: RequestVersion[] = [];
  readonly #places: (StagePlace | undefined)[] = [];

  get list(): readonly RequestVersion[] {
    return this.#list;
  }

  /** Adds a request, unless it is that of the last version. */
  add(request: MessagesRequest, place: StagePlace | undefined): void {
    if (this.#list.at(-1)?.request === request) return;
    if (this.#list.length >= maxVersions) {
      this.#list.pop();
      this.#places.pop();
    }
    this.#list.push({ by: place?.stage ?? '', request });
    this.#places.push(place);
  }

  /**
   * Stage behind an error before the answer: the one whose request is not a valid Messages request, else the one that
   * has thrown.
   */
  causeOf(
    error: unknown,
    thrower: StagePlace,
    { firstEventAtMs }: { readonly firstEventAtMs: number | undefined },
  ): StagePlace {
    if (isGatewayError(error) || firstEventAtMs !== undefined) return thrower;
    const valid = this.#list.findLastIndex(({ request }) => shapeFault('request', request) === undefined);
    return this.#places[valid + 1] ?? thrower;
  }
}

/** Max versions, since an interceptor may make any number of calls. */
const maxVersions = 100;
