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

  it('are those of the environment, and not what each object has', () => {
    expect(substitute('${constructor} ${toString:-x}', {}, String)).to.deep.equal({
      text: '${constructor} x',
      unset: ['constructor'],
      unread: [],
      isMalformed: false,
    });
  });

  it('are found in linear time, however many are not closed', () => {
    const text = '${A:-'.repeat((1024 * 1024) / 5);
    expect(substitute(text, {}, String)).to.deep.equal({ text, unset: [], unread: [], isMalformed: true });
  });
});
