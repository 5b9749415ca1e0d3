import { Type, type TSchema } from 'typebox';
import { compileCheck, formatPath } from '../../../kit/schema/check.js';
import type { MessagesRequest } from '../../contract/messages.js';
import { bodyWithInputs } from '../../inputs/inputs-json.js';
import { withFields } from '../../raw/with-fields.js';
import { allExtras, extrasOf, withExtras, type PlacedExtras } from '../../stage/extras.js';
import type { RequestPart, RequestView } from '../question.js';
import { changedPartsFault, type ChangedParts, type RequestChange } from '../reply.js';
import { withChangedExtras } from './changed-extras.js';
import { merged } from './merge.js';
import { applyPatch } from './patch.js';

/** Parts of a request as a question has them. */
export function requestView(request: MessagesRequest, parts: readonly RequestPart[]): RequestView {
  const { messages, system, tools, model } = request;
  const { prediction } = extrasOf(request);
  const has = new Set(parts);
  return {
    ...(has.has('messages') && { messages }),
    ...(has.has('messages') && prediction !== undefined && { prediction }),
    ...(has.has('system') && system !== undefined && { system }),
    ...(has.has('tools') && tools !== undefined && { tools }),
    ...(has.has('model') && { model }),
    ...(has.has('extras') && { extras: placedExtras(request) }),
  } as RequestView; // lists that nobody has checked, as the caller sent them
}

/** JSON of a view; numbers of tool inputs as the caller wrote them. */
export function viewJson(view: RequestView): string {
  const body = bodyWithInputs(view);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Extras of a request; its prediction goes with the messages. */
function placedExtras(request: MessagesRequest): NonNullable<RequestView['extras']> {
  return allExtras(request).flatMap(({ place, extras }) => {
    const { prediction: _, ...others } = extras;
    return Object.keys(others).length > 0 ? [{ place, extras: others }] : [];
  });
}

/**
 * The request with the changes of a reply, element by element: unchanged parts are the same objects. Throws a TypeError
 * that names the part, for one that the question did not have and for a result that is not a valid request.
 */
export function changedRequest(
  request: MessagesRequest,
  parts: readonly RequestPart[],
  change: RequestChange,
): MessagesRequest {
  const next = 'patch' in change ? patchedParts(request, parts, change.patch) : change.set;
  const unsent = Object.keys(next).find((name) => !isSent(name, parts));
  if (unsent !== undefined) throw new TypeError(`${unsent}: is not among the parts that were sent`);
  const { messages, system, tools, model, prediction, extras } = next;
  let changed = request;
  if (messages) changed = withPart(changed, 'messages', checked('messages', request.messages, messages));
  if (system !== undefined) changed = withPart(changed, 'system', checkedSystem(request, system));
  if (tools !== undefined) changed = withTools(changed, tools && checked('tools', request.tools, tools));
  if (model !== undefined) changed = withPart(changed, 'model', model);
  if (prediction !== undefined) changed = withPrediction(changed, prediction);
  return extras === undefined
    ? changed
    : withChangedExtras(changed, (extras ?? []) as readonly PlacedExtras[]); // objects of JSON
}

function isSent(name: string, parts: readonly RequestPart[]): boolean {
  return (parts as readonly string[]).includes(name === 'prediction' ? 'messages' : name);
}

/** Parts after a patch of the question's request; null for one that it has removed. */
function patchedParts(
  request: MessagesRequest,
  parts: readonly RequestPart[],
  patch: Extract<RequestChange, { readonly patch: unknown }>['patch'],
): ChangedParts {
  const view = JSON.parse(viewJson(requestView(request, parts))) as Record<string, unknown>; // made of an object
  const names = Object.keys(view);
  applyPatch(view, patch);
  for (const name of names) if (!Object.hasOwn(view, name)) view[name] = null;
  const fault = changedPartsFault(view);
  if (fault !== undefined) throw new TypeError(`patch: the result is not valid: ${fault}`);
  return view;
}

function withPart(
  request: MessagesRequest,
  name: 'messages' | 'system' | 'tools' | 'model' | 'tool_choice',
  part: unknown,
): MessagesRequest {
  if (request[name] === part) return request;
  if (part !== undefined) return withFields(request, { [name]: part });
  const { [name]: _, ...rest } = request;
  return rest as MessagesRequest; // without an optional field
}

const Block = Type.Object({ type: Type.String({ minLength: 1 }) });
const items: Readonly<Record<'messages' | 'system' | 'tools', TSchema>> = {
  messages: Type.Object({
    role: Type.Enum(['user', 'assistant', 'system']),
    content: Type.Union([Type.String(), Type.Array(Block)]),
  }),
  system: Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  tools: Type.Union([Type.Object({ name: Type.String() }), Type.Object({ type: Type.String() })]),
};

/** Compiled at the first change of their list. */
const checks = new Map<TSchema, ReturnType<typeof compileCheck>>();

/** Merged list; only its new and changed items are checked. */
function checked(name: keyof typeof items, live: unknown, next: readonly unknown[]): unknown {
  const list = merged(live, next);
  if (list === live || !Array.isArray(list)) return list;
  const known = new Set<unknown>(Array.isArray(live) ? live : []);
  const schema = items[name];
  let check = checks.get(schema);
  if (!check) checks.set(schema, (check = compileCheck(schema)));
  for (const [at, item] of list.entries()) {
    const [error] = known.has(item) ? [] : check(item);
    if (error) throw new TypeError(`${formatPath([name, at, ...error.path])}: ${error.message}`);
  }
  return list;
}

function checkedSystem(
  { system }: MessagesRequest,
  next: NonNullable<ChangedParts['system']> | null,
): unknown {
  if (next === null) return undefined;
  return typeof next === 'string' ? next : checked('system', system, next);
}

/** A choice of tools goes with the last one of them. */
function withTools(request: MessagesRequest, tools: unknown): MessagesRequest {
  const list = Array.isArray(tools) && tools.length > 0 ? (tools as MessagesRequest['tools']) : undefined; // checked
  const changed = withPart(request, 'tools', list);
  const { tool_choice: choice } = request;
  if (!list) return withPart(changed, 'tool_choice', undefined);
  if (choice?.type === 'tool' && !list.some(({ name }) => name === choice.name))
    throw new TypeError(`tools: lacks "${choice.name}", which tool_choice requires`);
  return changed;
}

function withPrediction(request: MessagesRequest, next: unknown): MessagesRequest {
  const { prediction, ...others } = extrasOf(request);
  const changed = merged(prediction, next);
  if (changed === prediction) return request;
  return withExtras(request, changed === null ? others : { ...others, prediction: changed });
}
