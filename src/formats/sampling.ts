import { samplingOf, type CatalogModel, type MessagesRequest } from '../plugin/index.js';
import { present } from './body.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Each as the caller sent it; null says nothing. */
export interface SamplingParams {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
}

type Sampling = Pick<MessagesRequest, keyof SamplingParams>;

/** The sampling parameters as this model takes them; what is left out or lowered is reported. */
export function settleSampling(
  wish: SamplingParams,
  { model, isThinking }: { readonly model: CatalogModel | undefined; readonly isThinking: boolean },
  dropped: UnsupportedFields,
): Sampling {
  const given = withoutNulls(wish);
  const taken = takers[samplingOf(model)](isThinking ? whileThinking(given) : inRange(given));
  for (const name of names) {
    const isLost = given[name] !== taken[name] && !(given[name] === 1 && taken[name] === undefined);
    if (isLost) dropped.add(name);
  }
  return taken;
}

const names = ['temperature', 'top_p', 'top_k'] as const satisfies readonly (keyof SamplingParams)[];

const takers: Readonly<Record<ReturnType<typeof samplingOf>, (given: Sampling) => Sampling>> = {
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

/** The other vendors' temperature goes up to 2. A `top_p` of 1 says nothing, and newer models refuse it beside a temperature. */
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

/** While it thinks, the upstream takes no temperature, no `top_k`, and a `top_p` of 0.95 at least. */
function whileThinking({ top_p }: Sampling): Sampling {
  return top_p !== undefined && top_p >= 0.95 && top_p < 1 ? { top_p } : {};
}
