import { withFields, type MessagesRequest } from '@gw2api/gateway/plugin';
import { defaultAnthropicVersion, type HttpAnswer } from '@gw2api/gateway/plugin/upstream';

type Headers = HttpAnswer['headers'];

/** Base URL of a region, as the SDK of the vendor computes it. */
export function regionUrl(region: string): string {
  return `https://${hosts[region] ?? `${region}-aiplatform.googleapis.com`}/v1`;
}

const hosts: Readonly<Record<string, string>> = {
  global: 'aiplatform.googleapis.com',
  us: 'aiplatform.us.rep.googleapis.com',
  eu: 'aiplatform.eu.rep.googleapis.com',
};

/** Name of a model as a part of a path, which ends before its method. */
export function modelSegment(model: string): string {
  const text = Buffer.from(model).toString(); // without lone surrogates
  return text.replace(/[^A-Za-z0-9\-._~!$&'()*+,=:@]+/g, encodeURIComponent);
}

/** Body of a call without its model, which the path names. */
export function predictBody(request: MessagesRequest, headers: Headers): object {
  const { model: _, ...body } = request; // a copy, which keeps the received text of the messages
  return withVersion(body, headers);
}

/** Body with the version of the API, which is not a header here. */
export function withVersion(body: object, headers: Headers): object {
  return 'anthropic_version' in body ? body : withFields(body, { anthropic_version: versionOf(headers) });
}

/** Version as this service calls it: `2023-06-01` has its own name, newer ones have the same name everywhere. */
function versionOf({ 'anthropic-version': version = defaultAnthropicVersion }: Headers): string {
  return version === defaultAnthropicVersion ? 'vertex-2023-10-16' : version;
}

/** Headers of a call: those of the caller without the version. */
export function predictHeaders({ 'anthropic-version': _, ...headers }: Headers): Headers {
  return headers;
}
