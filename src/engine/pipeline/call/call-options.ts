import {
  withFields,
  type HostCallOptions,
  type MessagesRequest,
  type Models,
} from '../../../plugin/index.js';
import type { RequestTrace } from '../../trace/request-trace.js';
import { shapeFault } from '../../trace/state-shapes.js';
import type { CallOrigin } from './running-call.js';

/** Throws a TypeError that names the wrong argument of `host.call`. */
export function requireCallArguments(request: unknown, options: unknown): void {
  const fault = shapeFault('request', request);
  if (fault !== undefined) throw wrong(`the request ${fault}`);
  const { label, slots, ctx, billTo, signal } = Object(options) as Partial<Record<string, unknown>>; // any object has properties
  if (typeof label !== 'string' || !/^[\w.-]{1,40}$/.test(label))
    throw wrong('label must be 1 to 40 letters, digits and "_", ".", "-"');
  if ((ctx === undefined) === (billTo === undefined))
    throw wrong('exactly one of ctx (of a request) and billTo (id of a key) must be given');
  if (billTo !== undefined && (typeof billTo !== 'string' || billTo === ''))
    throw wrong('billTo must be the id of a key, or "master"');
  if (slots !== undefined && !isListOfTexts(slots)) throw wrong('slots must be a list of slot ids or globs');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw wrong('signal must be an AbortSignal');
}

function isListOfTexts(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each !== '')
  );
}

function wrong(message: string): TypeError {
  return new TypeError(`host.call: ${message}.`);
}

/** The request that a call is made for. Throws a TypeError for one without a caller. */
export function ofRequest(options: HostCallOptions): CallOrigin {
  const { state, headers, path } = callingContext(options);
  const { caller, format, operation, requestId } = state;
  const trace = state.trace as RequestTrace; // the one that the core has made
  const origin = { caller, format, requestId, pipeline: trace.pipeline, path, headers, trace };
  // Other requests have no row.
  return operation === 'generate' ? { ...origin, parent: `${trace.startedMs}.${trace.rowId}` } : origin;
}

function callingContext({ ctx }: Pick<HostCallOptions, 'ctx'>): NonNullable<HostCallOptions['ctx']> {
  const { caller } = Object(ctx?.state) as { readonly caller?: unknown }; // any object has properties
  if (ctx && caller !== undefined) return ctx;
  throw wrong('ctx has no caller; list the stage below auth and require "caller", or give billTo');
}

/** Request of a call: under the catalog id of its model, with a limit of its answer. */
export function outgoingRequest(request: MessagesRequest, models: Models): MessagesRequest {
  const model = models.idOf(request.model);
  const { maxTokens = defaultMaxTokens } = models.profile(model);
  return withFields(request, { model, max_tokens: request.max_tokens ?? maxTokens });
}

/** Max output tokens of a model that the catalog lacks. */
const defaultMaxTokens = 128_000;
