import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { lastCall, requestLines } from '../../kit.js';

const personas = [
  {
    use: 'persona-inject',
    name: 'red-persona',
    when: { header: { 'X-Team': 'red*' }, not: { model: 'haiku-*' } },
    with: { text: 'Be red.' },
  },
  { use: 'persona-inject', name: 'streamed-persona', when: { stream: true }, with: { text: 'Be quick.' } },
  { use: 'persona-inject', name: 'any-persona', with: { text: 'Be kind.' } },
];

describe('alternatives in the pipeline', () => {
  let pair: Pair;
  before(async () => {
    const pipeline = stages().map((stage) =>
      (stage as { use: string }).use === 'persona-inject' ? { oneOf: personas } : stage,
    );
    pair = await startPair({ pipeline });
  });
  after(() => pair.close());

  async function personaFor(fields: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const answer = await pair.post('/v1/messages', ask('Hi', fields), headers);
    expect(answer.status).to.equal(200);
    await answer.text();
    const { system } = lastCall(pair.simulator) as { system: readonly { text: string }[] };
    return system.map(({ text }) => text).join();
  }

  it('take each request by the first whose conditions hold', async () => {
    expect(await personaFor({}, { 'x-team': 'red-2' })).to.equal('Be red.');
    expect(await personaFor({ model: 'haiku-4-5' }, { 'x-team': 'red-2' })).to.equal('Be kind.');
    expect(await personaFor({ stream: true }, { 'x-team': 'blue' })).to.equal('Be quick.');
    expect(await personaFor({ stream: true }, { 'x-team': 'red' })).to.equal('Be red.');
    expect(await personaFor({})).to.equal('Be kind.');
  });

  it('are told apart by their names in the record of a request', async () => {
    await personaFor({ stream: true });
    await requestLines(pair);
    await pair.gateway.services.ledger.flush();
    const list = await pair.get('/api/panel/requests?limit=1');
    const [latest] = ((await list.json()) as { data: readonly { id: string }[] }).data;
    const answer = await pair.get(`/api/panel/requests/${latest!.id}`);
    const { stages } = (await answer.json()) as { stages: readonly { stage: string }[] };
    const names = stages.map(({ stage }) => stage).filter((name) => name.endsWith('persona'));
    expect(names).to.deep.equal(['streamed-persona']);
  });

  it('are shown with their entry and their conditions', async () => {
    for (const path of ['/admin/pipeline', '/api/panel/pipeline']) {
      const { data } = (await (await pair.get(path)).json()) as { data: readonly Record<string, unknown>[] };
      const shown = data.filter(({ group }) => group !== null);
      expect(
        shown.map(({ name, group, path, conditions }) => ({ name, group, path, conditions })),
      ).to.deep.equal([
        {
          name: 'red-persona',
          group: 'pipeline[4]',
          path: 'pipeline[4].oneOf[0]',
          conditions: ['header x-team is red*', 'not (model is haiku-*)'],
        },
        {
          name: 'streamed-persona',
          group: 'pipeline[4]',
          path: 'pipeline[4].oneOf[1]',
          conditions: ['stream is true'],
        },
        { name: 'any-persona', group: 'pipeline[4]', path: 'pipeline[4].oneOf[2]', conditions: [] },
      ]);
    }
  });

  it('are in the config as it was written', async () => {
    const { pipeline } = (await (await pair.get('/admin/config')).json()) as { pipeline: readonly object[] };
    expect(pipeline[4]).to.deep.equal({ oneOf: personas });
  });
});
