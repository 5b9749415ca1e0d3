import type { Extension } from '../gateway/gateway.js';
import type { RouteSource } from '../operator/route-source.js';

/** Part of the gateway that can be left out. Its modules are imported when they are needed. */
export interface Feature extends RouteSource, Partial<Pick<Extension, 'starts' | 'open'>> {
  readonly name: string;
}
