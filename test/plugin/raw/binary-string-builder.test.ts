import { expect } from 'chai';
import * as fc from 'fast-check';
import { ModelEvent } from '#src/plugin/index.js';
import { toBinaryString, BinaryStringBuilder } from '#src/plugin/raw/index.js';

describe('BinaryStringBuilder', () => {
  const lines = ['Größe', 'plain', 'ß'].map((word) => {
    const bytes = toBinaryString(`event: ping\ndata: {"word":"${word}"}\n\n`.repeat(3));
    const received = word === 'ß' ? undefined : Buffer.from(bytes, 'latin1');
    return { bytes, received, isAscii: word === 'plain' };
  });
  const part = fc.record({ of: fc.nat(2), at: fc.nat(2), count: fc.integer({ min: 1, max: 3 }) });
  const eventAt = (of: number, at: number): ModelEvent => {
    const length = lines[of]!.bytes.length / 3;
    return ModelEvent.received('ping', lines[of]!, at * length, (at + 1) * length);
  };
  const step = fc.oneof(
    part,
    fc.constantFrom('a: b\n', 'é', '').map(toBinaryString),
    fc.constant('take' as const),
  );

  it('is its pieces one after another, whichever of them stood beside each other', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const text = new BinaryStringBuilder();
        let expected = '';
        for (const step of steps) {
          if (step === 'take') {
            expect(text.take().toString('latin1')).to.equal(expected);
            expected = '';
          } else if (typeof step === 'string') {
            text.add(step);
            expected += step;
          } else {
            const { bytes, isAscii } = lines[step.of]!;
            for (let at = step.at; at < Math.min(3, step.at + step.count); at += 1) {
              const event = eventAt(step.of, at);
              expect(JSON.parse(event.data))
                .to.have.property('word')
                .that.matches(isAscii ? /^plain$/ : /ß/);
              expect(event.copyTo(text)).to.equal(true);
              expected += bytes.slice(0, bytes.length / 3);
            }
          }
        }
        expect(text.take().toString('latin1')).to.equal(expected);
      }),
    );
  });

  it('passes a whole read on as it was received, without a copy', () => {
    const text = new BinaryStringBuilder();
    for (const at of [0, 1, 2]) eventAt(1, at).copyTo(text);
    expect(text.take()).to.equal(lines[1]!.received);
    expect(text.take()).to.have.lengthOf(0);
  });

  it('does not take what was not received', () => {
    const text = new BinaryStringBuilder();
    expect(new ModelEvent('ping', '{}').copyTo(text)).to.equal(false);
    expect(text.take()).to.have.lengthOf(0);
  });
});
