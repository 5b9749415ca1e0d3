import { GatewayError, type Loss, type SlotCall } from '@gw2api/gateway/plugin';

/** Parts of a Messages request that an upstream does not get unchanged, each path once. */
export class Dropped {
  readonly #losses = new Map<string, Loss>();
  readonly #counts: Record<Loss['kind'], number> = { content: 0, setting: 0, mend: 0 };

  constructor(losses: readonly Loss[] = []) {
    for (const { path, kind } of losses) this.add(path, kind);
  }

  /** True if further losses of a kind are dropped, so that the search for them can stop. */
  isFull(kind: Loss['kind'] = 'setting'): boolean {
    return this.#counts[kind] >= maxOfKind;
  }

  /** `path` as in an error message: `messages[2].content[1]`, `tools[0]`. Drops those that no report has room for. */
  add(path: string, kind: Loss['kind'] = 'setting'): void {
    if (this.isFull(kind) || this.#losses.has(path)) return;
    this.#counts[kind] += 1;
    this.#losses.set(path, { path, kind });
  }

  /** Losses in the order in which they were found. */
  get losses(): readonly Loss[] {
    return [...this.#losses.values()];
  }
}

/** Far more than a report names. */
const maxOfKind = 1000;

/**
 * Reports losses before a call is sent. Throws `invalid_request` for any beyond repairs if the slot or the gateway
 * rejects losses.
 */
export function reportTo(
  { report }: Pick<SlotCall, 'report'>,
  losses: readonly Loss[],
  unsupported: 'report' | 'reject' = 'report',
): void {
  const isRejecting = unsupported === 'reject';
  if (report) return report(losses, isRejecting ? { reject: true } : {});
  const lost = losses.filter(({ kind }) => kind !== 'mend').map(({ path }) => path);
  if (isRejecting && lost.length > 0)
    throw new GatewayError('invalid_request', `${lost.join(', ')}: cannot be expressed upstream.`);
}
