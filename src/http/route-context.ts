import type Koa from 'koa';
import type { Keys, Logger, Models, Operation, Slots, Store, StoredResponse } from '../plugin/index.js';
import type { Health } from './health.js';

/** A pipeline as requests see it: entered by each, left when the response has closed. */
export interface RunningPipeline {
  middlewareFor(operation: Operation): Koa.Middleware;
  enter(): void;
  leave(): void;
}

/** Stored responses in the shapes of their format. */
export interface ResponseViews {
  /** Server-sent events; those numbered up to `startingAfter` are left out. */
  replay(response: StoredResponse['response'], startingAfter?: number): Iterable<string>;
  listedInput(stored: StoredResponse): readonly Readonly<Record<string, unknown>>[];
}

/** Services of the gateway for its routes; every getter returns the current one, also after a reload. */
export interface RouteContext {
  readonly log: Logger;
  readonly pipeline: RunningPipeline;
  readonly models: Models;
  readonly slots: Slots;
  readonly keys: Keys;
  readonly store: Store;
  readonly health: Health;
  /** False once the process is about to end: new requests are refused. */
  readonly takesRequests: boolean;
  metricsText(): Promise<string>;
  readonly responseViews: ResponseViews;
  now(): number;
}
