import { expect } from 'chai';
import { blocks } from '#plugins/upstreams/simulator/rules/block-shape.js';
import { pairingProblem } from '#plugins/upstreams/simulator/rules/history-rules.js';
import { findScenarios } from '#plugins/upstreams/simulator/scenarios/marker.js';
import { stringFor } from '#plugins/upstreams/simulator/answer/string-instance.js';
import { substitute } from '#src/config/environment.js';

const megabyte = 1024 * 1024;

describe('patterns over a megabyte that somebody has made up', () => {
  it('find no scenario in openings that nothing closes', () => {
    expect(findScenarios('[[sim:'.repeat(megabyte / 6))).to.deep.equal([]);
    expect(findScenarios('[[sim:a [[sim:echo=b]]')).to.have.length(1);
  });

  it('take spaces with a sign behind them for no base64', () => {
    const image = (data: string) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    });
    const fault = '0.image.source.base64.data: Input should be valid base64';
    expect(blocks([image(`AA${' '.repeat(megabyte)}!`)], '')).to.contain(fault.slice(2));
    for (const data of ['AAAA', 'AA AA\n', 'AAA=', 'AA==', 'AA==\n'])
      expect(blocks([image(data)], '')).to.equal(undefined);
    for (const data of ['', '=', 'AA=A', 'A===']) expect(blocks([image(data)], '')).to.be.a('string');
  });

  it('are not followed where a caller has written one that backtracks for ever', () => {
    const first = (): number => 0;
    for (const pattern of ['^(\\w|\\w)*!$', '^(a+)+$', '^(?:.|.)*!', '(.*)\\1\\1!', '.*.*.*.*.*.*.*.*!'])
      expect(stringFor({ pattern, minLength: 4096 }, first)).to.have.length(4096);
    expect(stringFor({ pattern: '^[A-Z]{3}-\\d{3}$' }, first)).to.equal('ABC-123');
  });

  it('find no variable in openings that nothing closes, which are told as malformed', () => {
    const text = '${A:-'.repeat(megabyte / 5);
    expect(substitute(text, {}, String)).to.deep.equal({ text, unset: [], unread: [], isMalformed: true });
    expect(substitute('${A:-x} ${B', { A: '1' }, String)).to.deep.equal({
      text: '1 ${B',
      unset: [],
      unread: [],
      isMalformed: true,
    });
  });
});

describe('a history of 200,000 messages of one role', () => {
  it('is one turn, which takes no longer than its messages', () => {
    const messages = Array.from({ length: 200_000 }, () => ({ role: 'user' as const, content: 'Hi' }));
    expect(pairingProblem({ model: 'm', messages })).to.equal(undefined);
  });
});
