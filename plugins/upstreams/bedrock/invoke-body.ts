import { withFields, type MessagesRequest } from '@gw2api/gateway/plugin';
import { requestBytes } from '@gw2api/gateway/plugin/raw';
import { defaultAnthropicVersion } from '@gw2api/gateway/plugin/upstream';

type Headers = Readonly<Record<string, string>>;

const versionHeader = 'anthropic-version';
const betaHeader = 'anthropic-beta';
const profileHeader = 'anthropic-user-profile-id';

/**
 * Body of InvokeModel: without `model`, which is in the path, and `stream`; with the Messages API's headers as fields.
 */
export function invokeBody(request: object, headers: Headers, betas: readonly string[]): object {
  const { model: _, stream: __, ...body } = request as MessagesRequest; // or one without `stream`
  return withFields<Record<string, unknown>>(body, inBody(body, headers, betas));
}

/** Body of CountTokens, which takes that of InvokeModel as base64; a limit is required there too. */
export function countBody(request: object, headers: Headers, betas: readonly string[]): object {
  const body = invokeBody(withLimit(request), headers, betas);
  return { input: { invokeModel: { body: requestBytes(body).toString('base64') } } };
}

/** Headers of a caller without those that are in the body. */
export function invokeHeaders(headers: Headers): Headers {
  const { [versionHeader]: _, [betaHeader]: __, [profileHeader]: ___, ...rest } = headers;
  return { ...rest, accept: 'application/json' };
}

function inBody(body: object, headers: Headers, betas: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  const profile = headers[profileHeader];
  if (!('anthropic_version' in body)) fields['anthropic_version'] = versionOf(headers);
  if (betas.length > 0 && !('anthropic_beta' in body)) fields['anthropic_beta'] = betas;
  if (profile !== undefined && !('user_profile_id' in body)) fields['user_profile_id'] = profile;
  return fields;
}

/** Version as Bedrock names it, which differs for the first one. */
function versionOf({ [versionHeader]: version = defaultAnthropicVersion }: Headers): string {
  return version === defaultAnthropicVersion ? 'bedrock-2023-05-31' : version;
}

/** The request with the smallest `max_tokens` that its thinking allows, unless it has one. */
function withLimit(request: object): object {
  const { max_tokens: limit, thinking } = request as Partial<MessagesRequest>; // a request without `stream`
  if (limit !== undefined) return request;
  const { budget_tokens: budget } = Object(thinking) as { budget_tokens?: unknown }; // any object has properties
  return { ...request, max_tokens: (typeof budget === 'number' ? budget : 0) + 1 };
}
