import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';
import { errorIn } from '../../kit.js';

/** This many fields that no format has. */
function fields(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`f${nth}`, 1]));
}

/** The JSON of a request, with this many fields that no format has. */
function withFields(request: object, count: number): string {
  const added = Array.from({ length: count }, (_, nth) => `"f${nth}":1`);
  return `${JSON.stringify(request).slice(0, -1)},${added.join()}}`;
}

describe('a body of very many fields', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  for (const format of formatNames)
    it(`is refused before it costs others their time: ${format}`, async () => {
      const { path, request } = dialects[format];
      const text = withFields(request('Hi'), 300_000);
      const before = process.cpuUsage();
      const response = await fetch(pair.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
        body: text,
      });
      const error = await errorIn(response);
      const { user } = process.cpuUsage(before);
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.equal('body: must not have more than 1000 fields.');
      expect(user / 1000).to.be.below(750);
    });

  it('is refused from 1,001 on, however it comes', async () => {
    const body = ask('Hi');
    const known = Object.keys(body).length;
    for (const count of [1000, 1001]) {
      const text = JSON.stringify({ ...dialects.chat.request('Hi'), ...fields(count - known) });
      const given = Object.keys(JSON.parse(text) as object).length;
      for (const encoding of ['identity', 'gzip']) {
        const response = await fetch(pair.url + dialects.chat.path, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'content-encoding': encoding,
            'x-api-key': masterKey,
          },
          body: encoding === 'gzip' ? gzipSync(text) : text,
        });
        await response.text();
        expect(response.status, `${given} ${encoding}`).to.equal(given > 1000 ? 400 : 200);
      }
    }
  });

  it('within a message is answered, with those in x-gw-dropped that have room', async () => {
    const messages = [{ role: 'user', content: 'Hi', ...fields(200_000) }];
    const response = await pair.post('/v1/chat/completions', { model: 'sonnet-5', messages });
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-dropped')).to.match(/messages\[0\]\.f0, .*\.\.\.$/);
  });

  it('within a tool of Responses is answered with all of them, and few are named', async () => {
    const tool = { type: 'function', name: 'f', ...fields(100_000) };
    const body = { model: 'sonnet-5', input: 'Hi', tools: [tool] };
    const response = await pair.post('/v1/responses', body);
    expect(response.headers.get('x-gw-dropped')).to.match(/tools\[0\]\.f0, .*\.\.\.$/);
    const { tools } = (await response.json()) as { readonly tools: readonly object[] };
    expect(tools).to.deep.equal([{ description: null, parameters: null, strict: null, ...tool }]);
  });
});
