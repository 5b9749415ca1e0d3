import type { Static } from 'typebox';
import { call } from '../../../console/web/api/call.js';
import type { CanaryStatus as CanaryStatusReport } from '../canary-report.js';

type CanaryStatus = Static<typeof CanaryStatusReport>;
export type Canary = NonNullable<CanaryStatus['canary']>;
export type CanarySide = Canary['candidate'];

export const fetchCanary = async (signal?: AbortSignal) =>
  (await call<CanaryStatus>('GET', '/canary', { signal })).canary;
export const startCanary = (percent: number) => call<unknown>('POST', '/canary', { body: { percent } });
export const commitCanary = () => call<unknown>('POST', '/canary/commit');
export const cancelCanary = () => call<CanaryStatus>('POST', '/canary/cancel');
