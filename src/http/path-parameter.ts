import type { CoreContext } from './exchange.js';

/** A parameter of the matched path, decoded. */
export function pathParameter(ctx: CoreContext, name: string): string {
  const { params } = ctx as CoreContext & { params?: Record<string, string> }; // set by the router
  return params?.[name] ?? '';
}
