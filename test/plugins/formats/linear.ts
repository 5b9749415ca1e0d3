import { expect } from 'chai';
import type { Translation } from './sized.js';

const bytes = 16 * 1024 * 1024;

/** Tests that each ends: one that looks at all parts for each part would take minutes to hours. */
export function itEnds(translations: readonly Translation[]): void {
  for (const translation of translations)
    it(translation.name, async () => {
      expect(await translation.prepare(bytes)()).to.be.greaterThan(0);
    }).timeout(60_000);
}
