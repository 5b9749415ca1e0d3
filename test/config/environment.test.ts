import { expect } from 'chai';
import { substitute } from '#src/config/environment.js';

describe('the variables of a config', () => {
  it('are replaced up to one that is not closed, which is malformed', () => {
    expect(substitute('${A:-x} ${B', { A: '1' }, String)).to.deep.equal({
      text: '1 ${B',
      unset: [],
      unread: [],
      isMalformed: true,
    });
  });

  it('are found in linear time, however many are not closed', () => {
    const text = '${A:-'.repeat((1024 * 1024) / 5);
    expect(substitute(text, {}, String)).to.deep.equal({ text, unset: [], unread: [], isMalformed: true });
  });
});
