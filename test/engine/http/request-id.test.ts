import { expect } from 'chai';
import { requestIdOf } from '#src/engine/http/request-id.js';
import { timeOrderedId } from '#src/kit/time-ordered-id.js';

describe('the id of a request', () => {
  it('is the one that its caller has sent', () => {
    expect(requestIdOf('of a caller')).to.equal('of a caller');
  });

  it('is a new one for a header that cannot be an id', () => {
    for (const header of [undefined, '', 'ä', 'a\tb', 'x'.repeat(201)])
      expect(requestIdOf(header)).to.match(/^req_[0-9a-f]{32}$/);
  });
});

describe('a time-ordered id', () => {
  it('begins with the time in milliseconds', () => {
    const beforeMs = Date.now();
    const id = timeOrderedId();
    expect(Number.parseInt(id.slice(0, 12), 16)).to.be.within(beforeMs, Date.now());
  });

  it('is another one each time, with 32 digits', () => {
    const ids = Array.from({ length: 10_000 }, timeOrderedId);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(new Set(ids.map((id) => id.length))).to.deep.equal(new Set([32]));
  });
});
