import type Koa from 'koa';
import type { When } from '../config/config.js';
import { globMatcher, type GatewayState, type Models } from '../plugin/index.js';

/** Requests that match every part of `when` pass the middleware; the others go on as if it were not there. */
export function onlyWhen(when: When | undefined, middleware: Koa.Middleware, models: Models): Koa.Middleware {
  if (!when) return middleware;
  const matches = matcher(when, models);
  return function conditional(ctx, next) {
    const state = ctx.state as Seeded; // Koa types it as anything; the core has seeded it
    return matches(state) ? middleware(ctx, next) : next();
  };
}

/** Not every kind of request has a model, or a caller. */
type Seeded = Pick<GatewayState, 'format' | 'operation'> & Partial<Pick<GatewayState, 'request' | 'caller'>>;

function matcher(when: When, models: Models): (state: Seeded) => boolean {
  const isModel = when.model && globMatcher(when.model);
  const isCaller = when.caller && globMatcher(when.caller);
  return ({ format, operation, request, caller }) =>
    (when.format?.includes(format) ?? true) &&
    (when.operation?.includes(operation) ?? true) &&
    (!isModel || (request !== undefined && isModel(models.find(request.model)?.id ?? request.model))) &&
    (!isCaller || (caller !== undefined && (isCaller(caller.keyId) || isCaller(caller.name))));
}
