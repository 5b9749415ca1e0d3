import { expect } from 'chai';
import { replies, requests } from './sized.js';

const bytes = 16 * 1024 * 1024;

/** What looks at all parts for each part takes minutes to hours for these. */
describe('a translation of 16 MB in small parts ends', function () {
  this.timeout(60_000);
  for (const translation of [...requests, ...replies])
    it(translation.name, async () => {
      expect(await translation.prepare(bytes)()).to.be.greaterThan(0);
    });
});
