import type { ListedModel } from '@gw2api/gateway/plugin/upstream';

/**
 * Models of Anthropic on Bedrock, by the inference profiles of a region; a name without a region means the profile of
 * the region's own geography, never `global.`. Source: AWS's model cards
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-card-anthropic-*.html), October 2026.
 */
export function knownModels(region: string | undefined): readonly ListedModel[] {
  const geography = geographies.find(([pattern]) => pattern.test(region ?? ''))?.[1];
  return models.flatMap(([model, places]) => {
    const own = geography !== undefined && places.split(' ').includes(geography);
    const profile = { id: `${geography}.${model}`, aliases: [apiName(model)] };
    return [...(own ? [profile] : []), { id: `global.${model}` }];
  });
}

/** Id of a model at the vendor's own API: `claude-opus-4-6` for `anthropic.claude-opus-4-6-v1`. */
function apiName(model: string): string {
  return model.replace(/^anthropic\./, '').replace(/-v\d+(?::\d+)?$/, '');
}

const geographies: readonly (readonly [RegExp, string])[] = [
  [/^(?:us-(?!gov)|ca-)/, 'us'],
  [/^eu-/, 'eu'],
  [/^ap-northeast-[13]$/, 'jp'],
  [/^ap-southeast-[246]$/, 'au'],
];

/** Models, newest first, and the geographies that have a profile of their own. */
const models: readonly (readonly [string, string])[] = [
  ['anthropic.claude-haiku-5-5', 'us eu'],
  ['anthropic.claude-opus-5-5', 'us eu'],
  ['anthropic.claude-sonnet-5-5', 'us eu'],
  ['anthropic.claude-fable-5-1', 'us'],
  ['anthropic.claude-opus-5', 'us eu au'],
  ['anthropic.claude-sonnet-5', 'us eu au'],
  ['anthropic.claude-fable-5', 'us'],
  ['anthropic.claude-opus-4-8', 'us eu jp au'],
  ['anthropic.claude-opus-4-7', 'us eu jp au'],
  ['anthropic.claude-sonnet-4-6', 'us eu jp au'],
  ['anthropic.claude-opus-4-6-v1', 'us eu au'],
  ['anthropic.claude-opus-4-5-20251101-v1:0', 'us eu'],
  ['anthropic.claude-haiku-4-5-20251001-v1:0', 'us eu jp au'],
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'us eu jp au'],
];
