import { GatewayError } from '@gw2api/gateway/plugin';

/** Path of a model, by its id or ARN. Throws `model_not_found` for a name that a URL would take for a folder. */
export function modelPath(model: string): string {
  if (model === '' || /^\.{0,2}(;|$)/.test(model))
    throw new GatewayError('model_not_found', `Bedrock has no model ${JSON.stringify(model.slice(0, 100))}.`);
  const text = Buffer.from(model).toString(); // without lone surrogates
  return `/model/${text.replaceAll(notInPaths, encodeURIComponent)}`;
}

/** Whole characters that no segment of a path may have (RFC 3986 §3.3), so that surrogate pairs stay together. */
const notInPaths = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]+/g;

/** Id of a model without its region or ARN: an inference profile cannot count tokens. */
export function baseModel(model: string): string {
  const at = model.indexOf('anthropic.');
  return at > 0 ? model.slice(at) : model;
}
