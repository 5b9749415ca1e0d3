import type { When } from '../config/config.js';
import { globMatcher, type GatewayState, type Models } from '../plugin/internal.js';

/** Not every kind of request has a model, or a caller. */
type Seeded = Pick<GatewayState, 'format' | 'operation'> & Partial<Pick<GatewayState, 'request' | 'caller'>>;

/** Predicate over a request's state, true if every part of `when` matches; undefined without conditions. */
export function whenMatcher(
  when: When | undefined,
  models: Models,
): ((state: object) => boolean) | undefined {
  if (!when) return undefined;
  const isModel = when.model && globMatcher(when.model);
  const isCaller = when.caller && globMatcher(when.caller);
  return (state) => {
    const { format, operation, request, caller } = state as Seeded; // the core has seeded it
    return (
      (when.format?.includes(format) ?? true) &&
      (when.operation?.includes(operation) ?? true) &&
      (!isModel || (request !== undefined && isModel(models.find(request.model)?.id ?? request.model))) &&
      (!isCaller || (caller !== undefined && (isCaller(caller.keyId) || isCaller(caller.name))))
    );
  };
}
