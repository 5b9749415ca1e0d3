import { expect } from 'chai';
import { blocks } from '#plugins/upstreams/simulator/rules/block-shape.js';
import { pairingProblem } from '#plugins/upstreams/simulator/rules/history-rules.js';
import { findScenarios } from '#plugins/upstreams/simulator/scenarios/marker.js';
import { stringFor } from '#plugins/upstreams/simulator/answer/string-instance.js';

const megabyte = 1024 * 1024;

describe('the simulator and a hostile text of a megabyte', () => {
  it('finds no scenario in unclosed markers, in linear time', () => {
    expect(findScenarios('[[sim:'.repeat(megabyte / 6))).to.deep.equal([]);
    expect(findScenarios('[[sim:a [[sim:echo=b]]')).to.have.length(1);
  });

  it('refuses base64 with a character that is not part of it, and accepts spaces', () => {
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

  it('does not match a pattern of a schema that would backtrack forever', () => {
    const first = (): number => 0;
    for (const pattern of ['^(\\w|\\w)*!$', '^(a+)+$', '^(?:.|.)*!', '(.*)\\1\\1!', '.*.*.*.*.*.*.*.*!'])
      expect(stringFor({ pattern, minLength: 4096 }, first)).to.have.length(4096);
    expect(stringFor({ pattern: '^[A-Z]{3}-\\d{3}$' }, first)).to.equal('ABC-123');
  });
});

describe('the history rules', () => {
  it('accept 200,000 messages of one role, in linear time', () => {
    const messages = Array.from({ length: 200_000 }, () => ({ role: 'user' as const, content: 'Hi' }));
    expect(pairingProblem({ model: 'm', messages })).to.equal(undefined);
  });
});
