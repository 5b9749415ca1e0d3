import { expect } from 'chai';
import * as fc from 'fast-check';
import { ModelEvent, toBinaryString, BinaryStringBuilder } from '#src/plugin/internal.js';

describe('BinaryStringBuilder', () => {
  const lines = ['Größe', 'plain', 'ß'].map((word) => ({
    bytes: toBinaryString(`event: ping\ndata: {"word":"${word}"}\n\n`.repeat(3)),
    isAscii: word === 'plain',
  }));
  const part = fc.record({ of: fc.nat(2), at: fc.nat(2) });
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
            const length = bytes.length / 3;
            const event = ModelEvent.received(
              'ping',
              lines[step.of]!,
              step.at * length,
              (step.at + 1) * length,
            );
            expect(JSON.parse(event.data))
              .to.have.property('word')
              .that.matches(isAscii ? /^plain$/ : /ß/);
            expect(event.copyTo(text)).to.equal(true);
            expected += bytes.slice(0, length);
          }
        }
        expect(text.take().toString('latin1')).to.equal(expected);
      }),
    );
  });

  it('does not take what was not received', () => {
    const text = new BinaryStringBuilder();
    expect(new ModelEvent('ping', '{}').copyTo(text)).to.equal(false);
    expect(text.take()).to.have.lengthOf(0);
  });
});
