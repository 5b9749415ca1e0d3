import { expect } from 'chai';
import type { Feature } from './feature.js';
import { receivers } from './receivers.js';
import type { Cell } from './run.js';

/** Features that are lost, with their receivers, in a table of `at` receivers. */
export function lostOf(
  cells: readonly Cell[],
  features: readonly Feature[],
  at = receivers.length,
): readonly string[] {
  expect(cells).to.have.length(features.length * at);
  const lost = cells.filter(({ verdict }) => verdict === 'LOST');
  return lost.map(({ feature, receiver }) => `${feature.format}: ${feature.name} at ${receiver}`);
}
