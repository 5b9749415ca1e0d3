import type { TSchema } from 'typebox';
import type { Audit } from '../state/audit/audit.js';
import { AuditedAction } from '../state/audit/audited-action.js';
import { Closed } from '../kit/schema/closed.js';
import { GatewayError } from '../plugin/index.js';
import type { AuditActor } from '../state/store/contract/audit.js';
import { isRead, nobody, requireRole } from './access/actor.js';
import { checkOf, readQuery } from './check.js';
import { readBody } from './json.js';
import type { Caller, PanelContext, PanelRoute } from './route.js';
import type { Sessions } from './access/sessions.js';

interface AnswerParts {
  readonly sessions: Sessions;
  readonly audit: Audit;
}

type Handler = (ctx: PanelContext) => Promise<void>;

/** Handler of a route: what the route declares as an action is recorded in the audit log. */
export function answer(definition: PanelRoute, { sessions, audit }: AnswerParts): Handler {
  const serve = serving(definition, sessions);
  const { audit: action, noted, isOpen } = definition;
  if (action === undefined) return (ctx) => serve(ctx, new AuditedAction());
  return (ctx) => {
    const { log, requestId } = ctx.state;
    const terms = { action, noted, log, requestId, address: ctx.ip };
    return audit.run(terms, async (entry) => {
      try {
        await serve(ctx, entry);
      } finally {
        entry.actor = ctx.state.actor ?? (isOpen ? anonymous : undefined);
      }
    });
  };
}

/** Actor of a login that has failed. */
const anonymous: AuditActor = { kind: 'anonymous', name: 'anonymous' };

/** Checks the request by the route's schemas and sends the result as the answer. */
function serving(
  definition: PanelRoute,
  sessions: Sessions,
): (ctx: PanelContext, entry: AuditedAction) => Promise<void> {
  const { isOpen, query = nothing, body, readsBody, maxBodyBytes = 1024 * 1024, answers } = definition;
  const checkQuery = checkOf(query);
  const checkBody = body && checkOf(body);
  return async (ctx, entry) => {
    const id = idOf(ctx);
    entry.target = id;
    if (isOpen && !isRead(ctx.method)) await sessions.admit(ctx);
    const caller = isOpen ? stranger : await sessions.authenticate(ctx);
    if (!isOpen) requireRole(caller.actor, definition);
    refuseStrangeId(id, ctx.path);
    const parameters = readQuery(ctx.querystring, query);
    checkQuery(parameters);
    const read = async (): Promise<unknown> => {
      const sent = await readBody(ctx, maxBodyBytes);
      checkBody?.(sent);
      return sent;
    };
    const sent = body && !readsBody ? await read() : undefined;
    const call = { id, query: parameters, body: sent, readBody: read, ...caller, audit: entry, ctx };
    const given = await definition.handle(call);
    if (definition.answersItself) return;
    ctx.status = statusOf(answers, given);
    if (given !== undefined) ctx.body = given;
  };
}

const nothing: TSchema = Closed({});
const stranger: Caller = { actor: nobody, session: undefined };

/**
 * Status of the answer: of the route's own statuses, the one with a body or, if `given` is undefined, the one
 * without.
 */
function statusOf(answers: PanelRoute['answers'], given: unknown): number {
  const [status] =
    Object.entries(answers).find(([, schema]) => (schema === null) === (given === undefined)) ?? [];
  return Number(status ?? 200);
}

/** `:id` of the path; empty if it has none. */
function idOf(ctx: PanelContext): string {
  const { params } = ctx as PanelContext & { params?: Readonly<Record<string, string>> }; // set by the router
  return params?.['id'] ?? '';
}

/** Throws `not_found` for control characters and overlong ids: no id has them, and databases refuse them. */
function refuseStrangeId(id: string, path: string): void {
  if (/\p{Cc}/u.test(id) || id.length > maxIdLength)
    throw new GatewayError('not_found', `There is nothing at ${path}.`);
}

const maxIdLength = 300;
