import type Koa from 'koa';
import type {
  formatContext,
  Format,
  FormatContext,
  Keys,
  Logger,
  Models,
  Operation,
  Slots,
} from '../plugin/internal.js';
import type { Health } from './health.js';
import type { CoreContext } from './exchange.js';

/** A pipeline as requests see it: entered by each, left when the response has closed. */
interface RunningPipeline {
  middlewareFor(operation: Operation): Koa.Middleware;
  enter(): void;
  leave(): void;
}

/** Parts of a runtime and services of the gateway for its routes. */
export interface RouteContext {
  readonly log: Logger;
  readonly pipeline: RunningPipeline;
  readonly models: Models;
  readonly formats: readonly Format[];
  readonly slots: Slots;
  readonly keys: Keys;
  readonly health: Health;
  /** False once the process is about to end: new requests are refused. */
  readonly takesRequests: boolean;
  metricsText(): Promise<string>;
  /** The context of a format that answers a route itself. */
  formatContext(ctx: Parameters<typeof formatContext>[1]): FormatContext;
}

/** A parameter of the matched path, decoded. */
export function pathParameter(ctx: CoreContext, name: string): string {
  const { params } = ctx as CoreContext & { params?: Record<string, string> }; // set by the router
  return params?.[name] ?? '';
}
