import type { TSchema } from 'typebox';
import type { Audit } from '../state/audit/audit.js';
import { AuditedAction } from '../state/audit/audited-action.js';
import { Closed } from '../kit/schema/type.js';
import { GatewayError } from '../plugin/index.js';
import type { AuditActor } from '../state/store/contract/audit.js';
import { isRead, nobody, requireRole } from './access/actor.js';
import type { AdminCaller } from './access/admin-caller.js';
import { requireScope } from './access/scopes.js';
import { checkOf, readQuery } from './check.js';
import { readBody } from './json.js';
import type { Caller, OperatorContext, Route } from './route.js';
import type { Sessions } from './access/sessions.js';

interface AnswerParts {
  readonly sessions: Sessions;
  readonly audit: Audit;
  /** Caller of `/admin`. Throws 401, 403 and `store_unavailable`. */
  readonly authenticate: (ctx: OperatorContext) => Promise<AdminCaller>;
}

type Handler = (ctx: OperatorContext) => Promise<void>;

/** Handler of a route; records the route's declared action in the audit log. */
export function answer(definition: Route, parts: AnswerParts): Handler {
  const serve = serving(definition, parts);
  const { audit: action, noted, isOpen } = definition;
  if (action === undefined) return (ctx) => serve(ctx, new AuditedAction());
  return (ctx) => {
    const { log, requestId } = ctx.state;
    const terms = { action, noted, log, requestId, address: ctx.ip };
    return parts.audit.run(terms, async (entry) => {
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
  definition: Route,
  parts: AnswerParts,
): (ctx: OperatorContext, entry: AuditedAction) => Promise<void> {
  const { body, readsBody, maxBodyBytes = 1024 * 1024, answers } = definition;
  const readParameters = parametersOf(definition);
  const checkBody = body && checkOf(body);
  return async (ctx, entry) => {
    const id = idOf(ctx);
    entry.target = id;
    const caller = await admit(ctx, definition, parts);
    const parameters = readParameters(ctx, id);
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

/** Caller of a route, if it may call it. Throws 401, 403, 429 and `store_unavailable`. */
async function admit(ctx: OperatorContext, definition: Route, parts: AnswerParts): Promise<Caller> {
  const { sessions, authenticate } = parts;
  if (definition.scope !== undefined) {
    const { actor, scopes } = await authenticate(ctx);
    ctx.state.actor = actor;
    requireScope({ name: actor.name, scopes }, definition.scope);
    return { actor, session: undefined };
  }
  if (definition.isOpen) {
    if (!isRead(ctx.method)) await sessions.admit(ctx);
    return stranger;
  }
  const caller = await sessions.authenticate(ctx);
  requireRole(caller.actor, definition);
  return caller;
}

const stranger: Caller = { actor: nobody, session: undefined };

/** Reader of the checked query of a route; those of `/admin` ignore parameters that they do not know. */
function parametersOf({ scope, query = nothing }: Route): (ctx: OperatorContext, id: string) => object {
  if (scope !== undefined) return () => ({});
  const check = checkOf(query);
  return (ctx, id) => {
    refuseStrangeId(id, ctx.path);
    const parameters = readQuery(ctx.querystring, query);
    check(parameters);
    return parameters;
  };
}

const nothing: TSchema = Closed({});

/**
 * Status of the answer: of the route's own statuses, the one with a body or, if `given` is undefined, the one
 * without.
 */
function statusOf(answers: Route['answers'], given: unknown): number {
  const [status] =
    Object.entries(answers).find(([, schema]) => (schema === null) === (given === undefined)) ?? [];
  return Number(status ?? 200);
}

/** `:id` of the path; empty if it has none. */
function idOf(ctx: OperatorContext): string {
  const { params } = ctx as OperatorContext & { params?: Readonly<Record<string, string>> }; // set by the router
  return params?.['id'] ?? '';
}

/** Throws `not_found` for control characters and overlong ids: no id has them, and databases refuse them. */
function refuseStrangeId(id: string, path: string): void {
  if (/\p{Cc}/u.test(id) || id.length > maxIdLength)
    throw new GatewayError('not_found', `There is nothing at ${path}.`);
}

const maxIdLength = 300;
