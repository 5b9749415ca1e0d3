import { expect } from 'chai';
import { delaysOf } from './delays.js';

const event = (micros: number) => `data: {"delta":{"text":"${micros} "}}\n\n`;

describe('the delay of a delta', () => {
  it('lasts until the end of its event has come', () => {
    const [first, second] = [event(1000), event(2000)];
    const chunks = [first + second.slice(0, 10), second.slice(10)].map((text) => Buffer.from(text));
    const answer = { status: 200, chunks, startedMicros: 0, atMicros: [1500, 4000] };
    expect(delaysOf(answer, ['1000 ', '2000 '])).to.deep.equal([0.5, 2]);
  });
});
