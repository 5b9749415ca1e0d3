import { expect } from 'chai';
import { fakeHost } from 'gw2api/testing';
import { createCipher } from '#src/store/credential-cipher.js';
import { readRecordings, type Recording } from '#plugins/shared/recordings.js';
import { dialects, formatNames } from './dialects.js';
import { stages, startPair, type Pair } from './harness.js';
import { TempFolders } from './temp-folders.js';

const secretKey = 'a key of tests';

describe('record', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  /** A gateway that records, and its folder. */
  async function recording(options: object = {}): Promise<{ readonly pair: Pair; readonly folder: string }> {
    const folder = await folders.make({});
    const [auth, limit, ...rest] = stages();
    const pipeline = [auth, limit, { use: 'record', with: { folder, ...options } }, ...rest];
    pair = await startPair({ pipeline }, {}, undefined, { secretKey });
    return { pair, folder };
  }

  /** What was recorded, once the gateway has closed. */
  async function closed(folder: string): Promise<readonly Recording[]> {
    await pair?.close();
    pair = undefined;
    return listed(readRecordings(folder, createCipher(secretKey)));
  }

  for (const format of formatNames)
    it(`keeps requests as they came, and answers by option: ${format}`, async () => {
      const { pair, folder } = await recording({ answers: true });
      const { path, request } = dialects[format];
      const bodies = [false, true].map((stream) => ({ ...request('Hello!'), stream }));
      for (const body of bodies) await (await pair.post(path, body, { 'x-session-id': 's' })).text();
      const recorded = await closed(folder);
      expect(recorded.map(({ body }) => body)).to.deep.equal(bodies);
      for (const { url, format: name, headers, caller, outcome, answer } of recorded) {
        expect([url, name, caller.name, outcome]).to.deep.equal([path, format, 'master', 'completed']);
        expect(headers).to.include({ 'x-session-id': 's' }).and.not.to.have.property('x-api-key');
        expect(answer!.map(([, event]) => event).join('')).to.include('You said');
      }
    });

  it('keeps no answers, no large requests and no other sessions unless asked', async () => {
    const { pair, folder } = await recording({ maxEach: '1kb', sample: 0.5 });
    const { path, request } = dialects.messages;
    const sessions = Array.from({ length: 40 }, (_, nth) => `session-${nth}`);
    for (const session of sessions)
      for (const text of ['Hello!', 'x'.repeat(2000)])
        await (await pair.post(path, request(text), { 'x-session-id': session })).text();
    const recorded = await closed(folder);
    expect(recorded.length).to.be.within(5, 35);
    for (const each of recorded) {
      expect(each).not.to.have.property('answer');
      expect(JSON.stringify(each.body)).to.include('Hello!');
    }
  });

  it('is told to operators on every page of the console', async () => {
    const { pair } = await recording({ sample: 0.25 });
    const status = (await (await pair.get('/api/panel/status')).json()) as { notices: readonly string[] };
    expect(status.notices).to.have.length(1);
    expect(status.notices[0]).to.match(/^Requests are recorded in .* \(25 %\)$/);
  });

  it('is refused without GW_SECRET_KEY', async () => {
    const folder = await folders.make({});
    const [auth, limit, ...rest] = stages();
    const pipeline = [auth, limit, { use: 'record', with: { folder } }, ...rest];
    const refusal = await startPair({ pipeline }).catch(String);
    expect(refusal).to.match(/record.*GW_SECRET_KEY is not set/s);
  });

  it('can be tested with the secrets of a fake host', async () => {
    const { secrets } = fakeHost();
    expect(await secrets.open('a', await secrets.seal('a', [1]))).to.deep.equal([1]);
  });
});

async function listed(recordings: AsyncIterable<Recording>): Promise<readonly Recording[]> {
  const list: Recording[] = [];
  for await (const each of recordings) list.push(each);
  return list;
}
