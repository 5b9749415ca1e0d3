import type { CatalogModel, MessagesRequest } from 'gw2api/plugin';
import { samplingOf } from 'gw2api/plugin/format';
import { present } from './body.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Sampling parameters as the caller sent them; null means not set. */
export interface SamplingParams {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
}

type Sampling = Pick<MessagesRequest, keyof SamplingParams>;

/** The sampling parameters as this model takes them; what is left out or lowered is reported. */
export function resolveSampling(
  params: SamplingParams,
  { model, isThinking }: { readonly model: CatalogModel | undefined; readonly isThinking: boolean },
  dropped: UnsupportedFields,
): Sampling {
  const given = withoutNulls(params);
  const taken = supported[samplingOf(model)](isThinking ? whileThinking(given) : inRange(given));
  for (const name of names) {
    const isLost = given[name] !== taken[name] && !(given[name] === 1 && taken[name] === undefined);
    if (isLost) dropped.add(name);
  }
  return taken;
}

const names = ['temperature', 'top_p', 'top_k'] as const satisfies readonly (keyof SamplingParams)[];

const supported: Readonly<Record<ReturnType<typeof samplingOf>, (given: Sampling) => Sampling>> = {
  both: (given) => given,
  one: ({ top_p, ...rest }) => ({ ...rest, ...(rest.temperature === undefined && present({ top_p })) }),
  none: () => ({}),
};

function withoutNulls({ temperature, top_p, top_k }: SamplingParams): Sampling {
  return present({
    temperature: temperature ?? undefined,
    top_p: top_p ?? undefined,
    top_k: top_k ?? undefined,
  });
}

/**
 * Limits the temperature to 1, as other vendors allow up to 2. Drops a `top_p` of 1 beside a temperature: it
 * has no effect, and newer models refuse the two together.
 */
function inRange({ temperature, top_p, ...rest }: Sampling): Sampling {
  const isIdle = top_p === 1 && temperature !== undefined;
  return {
    ...rest,
    ...present({
      temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
      top_p: isIdle ? undefined : top_p,
    }),
  };
}

/** Sampling while the model thinks: no temperature, no `top_k`, and `top_p` only from 0.95 to below 1. */
function whileThinking({ top_p }: Sampling): Sampling {
  return top_p !== undefined && top_p >= 0.95 && top_p < 1 ? { top_p } : {};
}
