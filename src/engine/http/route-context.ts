import type Koa from 'koa';
import type { formatContext, Format, Logger, Models, Operation } from '../../plugin/index.js';
import type { FormatContext } from '../../plugin/format/index.js';
import type { Keys, ServedRoute, Slots } from '../../plugin/core.js';
import type { Health } from './health.js';
import type { CoreContext } from './exchange.js';

/** A pipeline as requests see it: entered by each, left once the response has closed. */
interface RunningPipeline {
  middlewareFor(operation: Operation): Koa.Middleware;
  enter(): void;
  leave(): void;
  /** Paths that its stages have brought. */
  readonly routes: readonly ServedRoute[];
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
  /** Base path of the gateway: `/llm`; empty for none. */
  readonly basePath: string;
  /** False once the process is about to end: new requests are refused. */
  readonly takesRequests: boolean;
  /**
   * Runs the work of a stage's route for the master key or a session of the console; anything but a read is recorded
   * in the audit log. Throws 401, 403 and `store_unavailable`.
   */
  asOperator(ctx: CoreContext, stage: string, work: () => Promise<void>): Promise<void>;
  /** Admits the master key and admin tokens that may read metrics; throws 401, 403 and `store_unavailable`. */
  authorizeMetrics(ctx: CoreContext): Promise<void>;
  metricsText(): Promise<string>;
  /** Watch of the requests; `begin` is undefined without an observer. */
  readonly watch: { readonly begin?: ((ctx: CoreContext) => void) | undefined };
  /** The context of a format that answers a route itself. */
  formatContext(ctx: Parameters<typeof formatContext>[1]): FormatContext;
}

/** A parameter of the matched path, decoded. */
export function pathParameter(ctx: CoreContext, name: string): string {
  const { params } = ctx as CoreContext & { params?: Record<string, string> }; // set by the router
  return params?.[name] ?? '';
}
