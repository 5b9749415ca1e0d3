import { once, EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Exchange } from '#src/engine/http/exchange.js';
import { StageWatch } from '#src/engine/http/watch/stage-watch.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';

describe('the watch over stages', () => {
  const place = { stage: 'slow', path: 'pipeline[2]', at: 'gateway.yaml:4:5' };

  it('logs one that keeps a request waiting, once, with its place and its time so far', async () => {
    const trace = new RequestTrace(Date.now);
    const lines = new EventEmitter();
    const log = { warn: (fields: object, message: string) => lines.emit('line', { ...fields, message }) };
    const request = { state: { trace, log } } as unknown as Exchange; // nothing else of it is looked at
    const watch = new StageWatch(() => [request], 30);
    try {
      trace.enter(place);
      const [line] = (await once(lines, 'line')) as [{ ms: number }];
      expect(line).to.deep.include({ ...place, message: 'A stage is keeping a request waiting.' });
      expect(line.ms).to.be.at.least(30).and.be.below(60_000);
      lines.once('line', (again) => expect.fail(`and again: ${JSON.stringify(again)}`));
      trace.enter({ ...place, stage: 'slower' });
      lines.removeAllListeners('line');
      expect(((await once(lines, 'line')) as [object])[0]).to.include({ stage: 'slower' });
    } finally {
      watch.close();
    }
  });
});
