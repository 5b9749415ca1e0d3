import { proxyFaults, type ProxyFault } from '../../support/faulty-proxy.js';

/** Faults by request: a hash of the id chooses the fault, and the question that it is for. */
export class Faults {
  readonly #percent: number;
  /** Faults that questions got, by request. */
  readonly given = new Map<string, ProxyFault>();

  constructor(percent: number) {
    this.#percent = percent;
  }

  of(webhookId: string): ProxyFault | undefined {
    const [id = '', phase, seq] = webhookId.split('.');
    const number = hash(id);
    const fault = phase === 'events' ? proxyFaults[Math.floor((number % 100) / this.#percent)] : undefined;
    if (!fault || Number(seq) !== Math.floor(number / 100) % 3) return undefined;
    this.given.set(id, fault);
    return fault;
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
