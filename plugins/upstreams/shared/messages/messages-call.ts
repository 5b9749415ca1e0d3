import {
  markLastBlock,
  withFields,
  type Loss,
  type MessagesRequest,
  type SlotCall,
  type Tool,
} from '@gw2api/gateway/plugin';
import { narrowedForMessages } from '@gw2api/gateway/plugin/upstream';
import { withFittedSchemas } from './anthropic-schemas.js';
import { isScopeFlag, withoutFlagged } from './beta-fields.js';
import { withObjectInputs } from '../call-inputs.js';
import { withoutEarlierThinking } from './earlier-thinking.js';
import { withoutLateSystem } from '../late-system.js';
import { Dropped } from '../losses/dropped.js';
import { withinLimit } from '../max-tokens.js';
import type { OwnKeys } from './own-keys.js';
import { withoutMarkerField, withoutOwnMarkers } from './own-markers.js';
import type { SchemaOptions } from './schema-options.js';
import { withoutServerTools, type WithoutTools } from './server-tools.js';
import { hasOwnSystem, withSystemInUser } from '../system-in-user.js';
import { entryValue } from '../losses/refused-part.js';
import { withoutSampling } from '../without-sampling.js';
import { sealedLosses, withoutSealed } from '../reasoning-envelope.js';

/** Parts of the Messages API that a service has. */
export interface MessagesFeatures {
  /** Type prefixes of the server tools that the service runs; absent: any. */
  readonly serverTools?: readonly string[] | undefined;
  readonly strictTools?: boolean;
  readonly structuredOutput?: boolean;
  /** False: a cache marker has no ttl. */
  readonly cacheTtl?: boolean;
  /** Beta flags of the call that it does not take, and that are left out. */
  readonly leftOutFlags?: readonly string[];
  /** False: a request has cache markers on its blocks alone. */
  readonly topLevelMarker?: boolean;
}

/** Request of a call as a service takes it. */
export interface FittedCall {
  readonly request: MessagesRequest;
  /** Parts requested by the caller that the service is not sent. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Keys of arguments that have other names upstream. */
  readonly keys: OwnKeys;
}

/**
 * Request of a call for a service of the Messages API: without parts that the service lacks, or has refused, if the
 * gateway added or translated them. Returns the request itself if nothing changes.
 */
export function fittedCall(given: SlotCall, features: MessagesFeatures): FittedCall {
  const { without } = given;
  const objects = withObjectInputs(given.request);
  const earlier = withoutEarlierThinking(callWith(given, objects.request));
  const limited = withinLimit(earlier.request, given);
  const asked = callWith(given, limited.request);
  const narrowed = narrowedForMessages(asked);
  const fitted = withFittedSchemas(narrowed, heldTo(features, without));
  const { call, keys } = fitted;
  const tools = withRunTools(call.request, call, features);
  const translated = withoutTranslated(tools.request, call);
  const marked = fittedMarkers(translated.request, call, features);
  const flagged = withoutFlags(marked, features.leftOutFlags ?? [], without);
  const timely = withoutLateSystem(flagged.request, call);
  const isInUser = without?.has('system') && hasOwnSystem(call);
  const placed = isInUser ? withSystemInUser(timely) : timely;
  const request = withoutSealed(placed);
  const found = lossesOf([earlier, limited, fitted, tools, translated, flagged]);
  const isReported = request === placed || call.isTranslated === true; // by the narrowing
  const sealed = isReported ? none : sealedLosses(given.request, request);
  const losses = objects.cut.concat(inAsked(found, given.request, narrowed.request), sealed);
  return { request, losses, leftOut: tools.leftOut, keys };
}

function lossesOf(steps: readonly { readonly losses: readonly Loss[] }[]): readonly Loss[] {
  return steps.some(({ losses }) => losses.length > 0) ? steps.flatMap(({ losses }) => losses) : none;
}

const none: readonly never[] = [];

interface Step {
  readonly request: MessagesRequest;
  readonly losses: readonly Loss[];
}

function callWith(call: SlotCall, request: MessagesRequest): SlotCall {
  return request === call.request ? call : withFields(call, { request });
}

/** Enforced forms, as the service takes them. */
function heldTo(
  { strictTools = true, structuredOutput = true }: MessagesFeatures,
  without: SlotCall['without'],
): SchemaOptions {
  const refused = entryValue(without, 'strict');
  return {
    strictTools: strictTools && refused === undefined,
    forcedStrict: refused !== 'all',
    structuredOutput: structuredOutput && !without?.has('output_format'),
  };
}

/** The request with the tools that the service runs itself, as far as that is known. */
function withRunTools(
  request: MessagesRequest,
  call: SlotCall,
  { serverTools }: MessagesFeatures,
): WithoutTools {
  const runs = call.without?.has('web_search') ? [] : serverTools;
  return runs ? withoutServerTools(request, runs, call) : { request, losses: [], leftOut: [] };
}

/** The request without fields whose beta flags are left out, and that are refused without. */
function withoutFlags(given: MessagesRequest, flags: readonly string[], without: SlotCall['without']): Step {
  if (flags.length === 0) return { request: given, losses: [] };
  const flagged = withoutFlagged(given, flags, without);
  if (!flags.some(isScopeFlag)) return flagged;
  const { request, paths } = withoutMarkerField(flagged.request, 'scope');
  return { request, losses: [...flagged.losses, ...paths.map((path) => ({ path, kind: 'mend' }) as const)] };
}

/** The request with the cache markers that the service takes. */
function fittedMarkers(
  given: MessagesRequest,
  call: SlotCall,
  { topLevelMarker, cacheTtl }: MessagesFeatures,
): MessagesRequest {
  const { without } = call;
  const request = topLevelMarker === false ? withoutTopLevelMarker(given) : given;
  const marked = without?.has('cache_control') ? withoutOwnMarkers(request, 'marker', call) : request;
  const hasNoTtl = cacheTtl === false || without?.has('cache_control.ttl');
  return hasNoTtl ? withoutOwnMarkers(marked, 'ttl', call) : marked;
}

/** The request without translated parts that the service has refused. */
function withoutTranslated(given: MessagesRequest, { isTranslated, without }: SlotCall): Step {
  if (!isTranslated || !without) return { request: given, losses: [] };
  const dropped = new Dropped();
  const request = withoutSampling(given, without, dropped);
  return { request, losses: dropped.losses };
}

/** The marker of the whole request, which stands for its last block, on that block. */
function withoutTopLevelMarker(request: MessagesRequest): MessagesRequest {
  const { cache_control: marker, ...rest } = request;
  if (!marker || typeof marker !== 'object' || !Array.isArray(request.messages)) return request;
  return markLastBlock(rest, marker);
}

/** Losses with the tools' places in the original request, if only some of them are offered. */
function inAsked(
  losses: readonly Loss[],
  { tools: asked }: MessagesRequest,
  { tools: offered }: MessagesRequest,
): readonly Loss[] {
  if (asked === offered || !asked || !offered) return losses;
  const places = new Map(asked.map((tool, at) => [tool, at]));
  return losses.map(({ path, kind }) => {
    const [, at, rest = ''] = /^tools\[(\d+)\](.*)$/s.exec(path) ?? [];
    const tool = at === undefined ? undefined : offered[Number(at)];
    return tool ? { path: `tools[${places.get(tool)}]${rest}`, kind } : { path, kind };
  });
}
