import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Canary, CanaryPlace } from './canary.js';
import type { CoreContext } from '../../engine/http/exchange.js';
import { connectionOf, sentKey } from '../../plugin/core.js';
import { defaultStickyFrom, stickyKey } from '../../plugin/index.js';
import { within } from '../../kit/time/within.js';
import type { Services } from '../../gateway/services.js';

/** Place of a request in the canary that ran at its start. */
export interface Placed extends CanaryPlace {
  readonly canary: Canary;
}

/** Places of the running requests in their canaries. */
export class CanaryPlaces {
  readonly #services: Services;
  readonly #places = new WeakMap<CoreContext, Placed>();
  /** Names of WebSockets, which serve as the session of requests without one. */
  readonly #sockets = new WeakMap<object, string>();

  constructor(services: Services) {
    this.#services = services;
  }

  get(ctx: CoreContext): Placed | undefined {
    return this.#places.get(ctx);
  }

  async add(ctx: CoreContext, canary: Canary): Promise<void> {
    if (this.#services.keys.hasPass(sentKey(ctx.headers))) return; // the pass is taken once, by the stages
    const place = await canary.placeOf(ctx.headers, this.#nameOf(ctx));
    if (place) this.#places.set(ctx, { ...place, canary });
  }

  /** Name of a request without a session: that of its WebSocket, or else its own. */
  #nameOf({ req, state }: CoreContext): string {
    const socket = connectionOf(req.socket);
    if (!socket) return state.requestId;
    const name = this.#sockets.get(socket) ?? randomUUID();
    this.#sockets.set(socket, name);
    return name;
  }

  /** True for a session that is already bound to a slot. A caller whose key a plugin checks is not known here. */
  async isUnderWay(headers: IncomingHttpHeaders): Promise<boolean> {
    const { keys, store, clock } = this.#services;
    const sent = sentKey(headers);
    const found = sent === undefined ? undefined : await keys.check(sent);
    if (!found) return false;
    const keyId = found.kind === 'master' ? 'master' : found.key.id;
    const key = stickyKey(keyId, headers, { from: defaultStickyFrom });
    if (key === undefined) return false;
    const bound = within(store.bindings.get(key), storeMs, 'The store has not answered.', clock.setTimer);
    return (await bound) !== undefined;
  }
}

/** Time limit of the store for the first request of a session. */
const storeMs = 250;
