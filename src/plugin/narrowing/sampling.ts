import type { MessagesRequest } from '../contract/messages.js';
import { samplingOf } from '../stage/sampling.js';
import type { Narrowing } from './narrowing.js';

type Sampling = Pick<MessagesRequest, (typeof names)[number]>;

const names = ['temperature', 'top_p', 'top_k'] as const;

/** Leaves the sampling parameters that the model takes; what is left out or lowered is reported. */
export function narrowSampling(narrowing: Narrowing): void {
  const { request, profile } = narrowing;
  if (names.every((name) => request[name] === undefined)) return;
  const { temperature, top_p, top_k, thinking } = request;
  const given: Sampling = present({ temperature, top_p, top_k });
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const taken = supported[samplingOf(profile)](isThinking ? whileThinking(given) : inRange(given));
  if (names.every((name) => given[name] === taken[name])) return;
  narrowing.set({ temperature: taken.temperature, top_p: taken.top_p, top_k: taken.top_k });
  for (const name of names) {
    const isIdle = given[name] === 1 && taken[name] === undefined;
    if (given[name] !== taken[name] && !isIdle) narrowing.lose(name);
  }
}

const supported: Readonly<Record<ReturnType<typeof samplingOf>, (given: Sampling) => Sampling>> = {
  both: (given) => given,
  one: ({ top_p, ...rest }) => ({
    ...rest,
    ...(rest.temperature === undefined && present({ top_p })),
  }),
  none: () => ({}),
};

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

function present(given: { readonly [Key in keyof Sampling]: Sampling[Key] | undefined }): Sampling {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
