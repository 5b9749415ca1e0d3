import { isRead, requireRole } from './access/actor.js';
import type { RouteContext } from '../engine/http/route-context.js';
import type { Caller, OperatorContext } from './route.js';
import type { Services } from '../gateway/services.js';

/** Runs routes of stages for operators; the audit log knows a change by the request's path, without its query. */
export function asOperator(
  { audit }: Pick<Services, 'audit'>,
  authenticate: (ctx: OperatorContext) => Promise<Caller>,
): RouteContext['asOperator'] {
  return async (ctx, stage, work) => {
    const admitted = async (): Promise<void> => {
      const { actor } = await authenticate(ctx);
      requireRole(actor, ctx);
      await work();
    };
    if (isRead(ctx.method)) return admitted();
    const { log, requestId } = ctx.state;
    const target = `${ctx.method} ${ctx.path}`;
    const terms = { action: 'stage.call', target, address: ctx.ip, requestId, log, noted };
    return audit.run(terms, async (action) => {
      action.note({ stage });
      try {
        await admitted();
      } finally {
        action.actor = ctx.state.actor;
      }
      if (ctx.status >= 400) action.refuse(`status_${ctx.status}`);
    });
  };
}

const noted = 'An operator has called a route of a stage.';
