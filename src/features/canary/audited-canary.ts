import type { CanaryReport } from './canary-report.js';
import type { Services } from '../../gateway/services.js';
import { dayMs } from '../../kit/time/clock.js';

/** Records a canary that was rolled back: one entry of the audit log, however many processes have run it. */
export async function recordGivenUp(
  { audit, live, log }: Pick<Services, 'audit' | 'live' | 'log'>,
  { id }: { readonly id: string },
  { percent, candidate, control }: CanaryReport,
): Promise<void> {
  if (!(await isFirst())) return;
  const actor = { kind: 'system', name: 'canary' } as const;
  const terms = { action: 'canary.give_up', actor, noted: 'A canary was rolled back automatically.' };
  await audit.run(terms, (action) => action.change(undefined, { percent, candidate, control }));

  async function isFirst(): Promise<boolean> {
    try {
      return (
        (await live.claims.take(`canary/${id}/recorded`, live.instance, { ttlMs: dayMs })) === live.instance
      );
    } catch (error) {
      log.warn({ err: error }, 'The end of a canary may appear in the audit log more than once.');
      return true;
    }
  }
}
