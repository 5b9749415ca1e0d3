import type { RouteSource } from '../operator/route-source.js';

/** Part of the gateway that can be left out. Its modules are imported when they are needed. */
export interface Feature extends RouteSource {
  readonly name: string;
}
