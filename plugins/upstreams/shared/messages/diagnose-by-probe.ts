import type { DiagnosisStep, UpstreamHost, UpstreamQuery } from '@gw2api/gateway/plugin/upstream';

/**
 * Diagnosis whose last step is the probe of an upstream, for those without a plain request that checks the account.
 */
export async function diagnoseByProbe(
  { http, now }: Pick<UpstreamHost, 'http' | 'now'>,
  query: UpstreamQuery,
  probe: (query: UpstreamQuery) => Promise<void>,
): Promise<readonly DiagnosisStep[]> {
  const steps = await http.diagnose(query);
  if (steps.some(({ ok }) => !ok)) return steps;
  const startedAtMs = now();
  const problem = await probe(query).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const ms = Math.round(now() - startedAtMs);
  return [...steps, { step: 'credential', ok: problem === undefined, ms, detail: problem ?? 'accepted' }];
}
