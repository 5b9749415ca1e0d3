import {
  markLastBlock,
  withFields,
  type Loss,
  type MessagesRequest,
  type SlotCall,
  type Tool,
} from 'gw2api/plugin';
import { narrowedForMessages } from 'gw2api/plugin/upstream';
import { withFittedSchemas } from './anthropic-schemas.js';
import { isScopeFlag, withoutFlagged } from './beta-fields.js';
import { withObjectInputs } from './call-inputs.js';
import { withoutLateSystem } from './late-system.js';
import { Dropped } from './dropped.js';
import { withinLimit } from './max-tokens.js';
import type { OwnKeys } from './own-keys.js';
import { withoutMarkerField, withoutOwnMarkers } from './own-markers.js';
import { withoutServerTools } from './server-tools.js';
import { withoutSampling } from './without-sampling.js';

/** Parts of the Messages API that a service has. */
export interface MessagesFeatures {
  /** Beginnings of the types of tools that it runs itself; absent: any. */
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
  /** Parts that the caller asked for and the service is not sent. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Keys of arguments that have other names upstream. */
  readonly keys: OwnKeys;
}

/**
 * Request of a call for a service of the Messages API: without what the service does not have, and what it has
 * refused, as far as the gateway added or translated that; the request itself where nothing is to be changed.
 */
export function fittedCall(asked: SlotCall, features: MessagesFeatures): FittedCall {
  const { without } = asked;
  const { strictTools = true, structuredOutput = true } = features;
  const fitted = withFittedSchemas(narrowedForMessages(callWithinLimit(asked)), {
    strictTools: strictTools && !without?.has('strict'),
    structuredOutput: structuredOutput && !without?.has('output_format'),
  });
  const { call, keys } = fitted;
  const { request: given, cut } = withObjectInputs(call.request);
  const runs = without?.has('web_search') ? [] : features.serverTools;
  const tools = runs ? withoutServerTools(given, runs, call) : { request: given, losses: [], leftOut: [] };
  const translated = call.isTranslated && without ? withoutTranslated(tools.request, without) : undefined;
  const marked = fittedMarkers(translated?.request ?? tools.request, call, features);
  const losses = [...cut, ...fitted.losses, ...tools.losses, ...(translated?.losses ?? [])];
  const { leftOut } = tools;
  const { leftOutFlags: flags = [] } = features;
  if (flags.length === 0) return { request: withoutLateSystem(marked, call), losses, leftOut, keys };
  const flagged = withoutFlagged(marked, flags, without);
  const { request, paths } = flags.some(isScopeFlag)
    ? withoutMarkerField(flagged.request, 'scope')
    : { request: flagged.request, paths: [] };
  const scopes = paths.map((path) => ({ path, kind: 'mend' }) as const);
  const all = [...losses, ...flagged.losses, ...scopes];
  return { request: withoutLateSystem(request, call), losses: all, leftOut, keys };
}

function callWithinLimit(call: SlotCall): SlotCall {
  const { request, without } = call;
  const limited = without ? withinLimit(request, without) : request;
  return limited === request ? call : withFields(call, { request: limited });
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

/** The request without what translation has chosen and the service has refused. */
function withoutTranslated(
  given: MessagesRequest,
  without: ReadonlySet<string>,
): { readonly request: MessagesRequest; readonly losses: readonly Loss[] } {
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
