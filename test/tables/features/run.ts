import { longContextBeta } from '@gw2api/gateway/plugin';
import { Kit } from '../../engine/transport/upstream-kit.js';
import { startGateway, type GatewayUnderTest } from '../../whole/harness.js';
import { routes, type Feature } from './feature.js';
import { partsOf } from './parts.js';
import type { Part } from './places.js';
import { configFor, receivers, type Receiver } from './receivers.js';
import { startRecorder } from './recorder.js';
import { verdictOf, type Outcome, type Verdict } from './verdict.js';

/** Verdict of a feature at a receiver. */
export interface Cell {
  readonly feature: Feature;
  readonly receiver: string;
  readonly verdict: Verdict;
  readonly outcome: Outcome;
}

/** Plays features at receivers, one feature at a time. */
export async function play<Played extends Feature>(
  features: readonly Played[],
  parts: (feature: Played) => readonly Part[] = partsOf,
  at: readonly Receiver[] = receivers,
): Promise<readonly Cell[]> {
  const kit = new Kit();
  const recorder = await startRecorder(kit);
  const gateway = await startGateway(configFor(recorder.url));
  try {
    const cells: Cell[] = [];
    for (const feature of features) {
      const own = parts(feature);
      const ask = async (receiver: Receiver): Promise<Cell> => {
        const answer = await send(gateway, feature, receiver);
        const outcome = { ...answer, calls: recorder.take(receiver.id) };
        const verdict = verdictOf(feature.body, own, receiver.wire, outcome);
        return { feature, receiver: receiver.id, verdict, outcome };
      };
      cells.push(...(await Promise.all(at.map(ask))));
    }
    return cells;
  } finally {
    await gateway.close();
    await kit.close();
  }
}

async function send(
  gateway: GatewayUnderTest,
  { name, format, body }: Feature,
  { id }: Receiver,
): Promise<Omit<Outcome, 'calls'>> {
  const headers = { 'x-receiver': id, ...(name === 'beta header' && { 'anthropic-beta': longContextBeta }) };
  const response = await gateway.post(routes[format], { model: 'some-model', ...body }, headers);
  const text = await response.text();
  const { error } = response.ok
    ? {}
    : (JSON.parse(text) as { readonly error?: { readonly message?: string } });
  const dropped = (response.headers.get('x-gw-dropped') ?? '').split(', ').filter((path) => path !== '');
  return { status: response.status, message: error?.message ?? '', dropped };
}
