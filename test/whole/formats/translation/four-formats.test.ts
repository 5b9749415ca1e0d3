import { expect } from 'chai';
import { ask, eventsIn, startPair, type Pair } from '../../harness.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const said = 'You said: Hello!';

const requests = {
  '/v1/messages': ask('Hello!'),
  '/v1/chat/completions': { model: 'sonnet-5', messages },
  '/v1/responses': { model: 'sonnet-5', input: 'Hello!' },
  '/v1/completions': { model: 'sonnet-5', prompt: 'Hello!' },
};

describe('the four formats', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  for (const [path, body] of Object.entries(requests)) {
    it(`answer ${path} with one JSON body`, async () => {
      const response = await pair.post(path, body);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect(await response.text()).to.include(said);
    });

    it(`answer ${path} with an event stream`, async () => {
      const response = await pair.post(path, { ...body, stream: true });
      expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
      expect(response.headers.get('cache-control')).to.equal('no-cache');
      expect(response.headers.get('x-accel-buffering')).to.equal('no');
      expect(eventsIn(await response.text()).length).to.be.greaterThan(3);
    });

    it(`answer ${path} without /v1 too`, async () => {
      const response = await pair.post(path.slice(3), body);
      expect(await response.text()).to.include(said);
    });

    it(`answer ${path} with one body where x-gw-delivery is verified`, async () => {
      const response = await pair.post(path, { ...body, stream: true }, { 'x-gw-delivery': 'verified' });
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect(await response.text()).to.include(said);
    });
  }

  it('always ask the upstream for a stream', async () => {
    for (const [path, body] of Object.entries(requests)) {
      const received = pair.simulator.nextRequest((exchange) => exchange.path === '/v1/messages');
      await (await pair.post(path, body)).text();
      expect((await received).body).to.include({ stream: true });
    }
  });
});
