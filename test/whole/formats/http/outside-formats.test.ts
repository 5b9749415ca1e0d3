import { expect } from 'chai';
import { callsTo } from '../../kit.js';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  type GatewayUnderTest,
} from '../../harness.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { TempFolders, writeIn } from '../../temp-folders.js';
import { gemini, ollama } from '../../../support/outside-formats.js';

const withFormats = {
  formats: ['chat', 'messages', { use: './ollama.mjs', with: { maxTokens: 77 } }, './gemini.mjs'],
};

describe('formats from outside', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let folder: string;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    simulator = await startSimulator();
    folder = await folders.make({ 'ollama.mjs': ollama, 'gemini.mjs': gemini });
    await write(withFormats);
    under = await startGateway(`${folder}/gateway.yaml`);
  });
  afterEach(async () => {
    await under.close();
    await simulator.close();
    await folders.remove();
  });

  const write = (config: object) =>
    writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(simulator.url)], ...config }));

  async function reload(config: object): Promise<void> {
    await write(config);
    expect((await under.post('/admin/reload', {})).status).to.equal(200);
  }

  const chat = {
    model: 'sonnet-5',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
  };
  const contents = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
  const lastRequest = () => callsTo(simulator).at(-1)?.body as Readonly<Record<string, unknown>>;
  const typeOf = (answer: Response) => answer.headers.get('content-type');

  it('are named where a route of theirs answers nothing', async () => {
    const mute = ollama.replace("name: 'ollama'", "name: 'mute'").replace(/ctx\.body = .*$/m, '');
    await writeIn(folder, 'mute.mjs', mute);
    await reload({ formats: ['messages', './mute.mjs'] });
    const answer = await under.get('/api/tags');
    expect([answer.status, await answer.json()]).to.deep.equal([
      500,
      {
        error: `The route GET /api/tags of the format "mute" ended request ${answer.headers.get('x-request-id')} without an answer.`,
      },
    ]);
  });

  describe('an Ollama chat', () => {
    it('streams lines of JSON unless it is asked not to', async () => {
      const answer = await under.post('/api/chat', chat);
      expect([answer.status, typeOf(answer)]).to.deep.equal([200, 'application/x-ndjson']);
      const lines = (await answer.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      expect(lines.at(-1)).to.deep.include({ model: 'sonnet-5', done: true, done_reason: 'stop' });
      expect(lines.map(({ message }) => message.content).join('')).to.not.equal('');
      expect(lastRequest()).to.deep.include({ max_tokens: 77 });
      expect(JSON.stringify(lastRequest()['system'])).to.include('Be brief.');
    });

    it('is one object where it says stream: false', async () => {
      const answer = await under.post('/api/chat', { ...chat, stream: false });
      expect(typeOf(answer)).to.equal('application/json; charset=utf-8');
      const { message, done } = (await answer.json()) as Line;
      expect([message.content.length > 0, done]).to.deep.equal([true, true]);
    });

    it('has errors of its own, of every stage and method of its path', async () => {
      const wrong = await under.post('/api/chat', { model: 'sonnet-5', messages: 'Hi' });
      expect([wrong.status, await wrong.json()]).to.deep.equal([
        400,
        { error: 'messages: must be an array, not a string' },
      ]);
      const stranger = await under.post('/api/chat', chat, { 'x-api-key': 'nobody' });
      expect([stranger.status, Object.keys((await stranger.json()) as object)]).to.deep.equal([
        401,
        ['error'],
      ]);
      const method = await under.get('/api/chat');
      expect([method.status, method.headers.get('allow'), await method.json()]).to.deep.equal([
        405,
        'POST, OPTIONS',
        { error: '/api/chat does not accept GET; it accepts POST.' },
      ]);
      const elsewhere = (await (await under.get('/api/chats')).json()) as { error: object };
      expect(elsewhere.error).to.include({ code: 'not_found' });
    });

    it('has a route that it answers itself, behind auth', async () => {
      const tags = (await (await under.get('/api/tags')).json()) as { models: readonly { name: string }[] };
      expect(tags.models.map(({ name }) => name)).to.include('sonnet-5');
      expect((await under.get('/api/tags', { 'x-api-key': 'nobody' })).status).to.equal(401);
    });
  });

  describe('a header of a format for the key', () => {
    const path = '/v1beta/models/sonnet-5:generateContent';
    const bare = (headers: Readonly<Record<string, string>>, where = path) =>
      fetch(under.url + where, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(contents),
      });

    it('lets in whoever sends a key there, unless a header of the contract holds one', async () => {
      expect((await bare({ 'x-goog-api-key': masterKey })).status).to.equal(200);
      expect((await bare({ 'x-goog-api-key': 'nobody' })).status).to.equal(401);
      expect((await bare({ 'x-goog-api-key': 'nobody', 'x-api-key': masterKey })).status).to.equal(200);
      const bearer = { 'x-goog-api-key': 'nobody', authorization: `Bearer ${masterKey}` };
      expect((await bare(bearer)).status).to.equal(200);
    });

    it('shows no stage the key under that name, and no log', async () => {
      const nosy = `export default { name: 'nosy', setup: (_, { log }) => (ctx, next) => {
        log.warn({ headers: { ...ctx.headers, 'x-api-key': '' } }, 'headers');
        return next();
      } };`;
      await writeIn(folder, 'nosy.mjs', nosy);
      await reload({ ...withFormats, pipeline: [{ use: './nosy.mjs' }, ...stages()] });
      expect((await bare({ 'x-goog-api-key': masterKey })).status).to.equal(200);
      expect(under.logged.map(({ msg }) => msg)).to.include('headers');
      expect(JSON.stringify(under.logged)).to.not.include(masterKey).and.not.include('x-goog');
    });

    for (const name of ['cookie', 'anthropic-key', 'x y', 'content-length', 'x-gw-key', 5])
      it(`is not ${name}`, async () => {
        const wrong = gemini.replace("'x-goog-api-key'", JSON.stringify(name));
        await writeIn(folder, 'wrong.mjs', wrong);
        await write({ formats: ['messages', './wrong.mjs'] });
        const answer = await under.post('/admin/reload', {});
        expect(await answer.text()).to.include(
          `has the keyHeader ${JSON.stringify(JSON.stringify(name)).slice(1, -1)}`,
        );
      });
  });

  describe('a Gemini path', () => {
    const path = '/v1beta/models/sonnet-5';

    it('has the model and the verb in the path', async () => {
      const whole = await under.post(`${path}:generateContent`, contents);
      expect([whole.status, typeOf(whole)]).to.deep.equal([200, 'application/json; charset=utf-8']);
      expect(await whole.json()).to.have.nested.property('candidates[0].finishReason', 'STOP');
      expect(callsTo(simulator)).to.have.length(1);
    });

    it('streams events, or the elements of an array', async () => {
      const events = await under.post(`${path}:streamGenerateContent?alt=sse`, contents);
      expect(typeOf(events)).to.equal('text/event-stream; charset=utf-8');
      expect(await events.text()).to.match(/^data: \{"candidates".*\n\n$/s);
      const array = await under.post(`${path}:streamGenerateContent`, contents);
      expect(typeOf(array)).to.equal('application/json; charset=utf-8');
      expect(await array.json()).to.have.length.above(0);
    });

    it('counts tokens in its own words', async () => {
      const count = await under.post(`${path}:countTokens`, contents);
      expect(Object.keys((await count.json()) as object)).to.deep.equal(['totalTokens']);
    });

    it('has errors of its own', async () => {
      const wrong = await under.post(`${path}:generateContent`, { contents: 1 });
      expect([wrong.status, await wrong.json()]).to.deep.equal([
        400,
        { error: { code: 400, message: 'contents: must be an array', status: 'INVALID_REQUEST_ERROR' } },
      ]);
      const verb = (await (await under.post(`${path}:embedContent`, contents)).json()) as { error: object };
      expect(verb.error).to.include({ code: 'not_found' });
    });
  });

  it('go and come back with a reload, while those that stay answer', async () => {
    const statuses = async () => [
      (await under.post('/api/chat', { ...chat, stream: false })).status,
      (await under.post('/v1beta/models/sonnet-5:generateContent', contents)).status,
      (await under.post('/v1/messages', ask('Hi'))).status,
      (await under.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' })).status,
    ];
    expect(await statuses()).to.deep.equal([200, 200, 200, 404]);
    await reload({});
    expect(await statuses()).to.deep.equal([404, 404, 200, 200]);
    await reload(withFormats);
    expect(await statuses()).to.deep.equal([200, 200, 200, 404]);
  });

  it('are in /openapi.json, in conditions of stages and in the requests of the console', async () => {
    const document = async () =>
      Object.keys(((await (await under.get('/openapi.json')).json()) as { paths: object }).paths);
    expect(await document()).to.include.members(['/api/chat', '/v1beta/models/{model}:generateContent']);
    const tag = `export default { name: 'tag', setup: () => async (ctx, next) => { ctx.set('x-tag', 'yes'); await next(); } };`;
    await writeIn(folder, 'tag.mjs', tag);
    await reload({
      ...withFormats,
      pipeline: [{ use: './tag.mjs', when: { format: 'ollama' } }, ...stages()],
    });
    const tagOf = async (path: string, body: object) => (await under.post(path, body)).headers.get('x-tag');
    expect([await tagOf('/api/chat', chat), await tagOf('/v1/messages', ask('Hi'))]).to.deep.equal([
      'yes',
      null,
    ]);
    const rowsOf = async (format: string) => (await under.get(`/api/panel/requests?format=${format}`)).status;
    expect([await rowsOf('ollama'), await rowsOf('responses')]).to.deep.equal([200, 400]);
    await reload({});
    expect(await document())
      .to.include('/v1/responses')
      .and.not.include('/api/chat');
  });
});

interface Line {
  readonly message: { readonly content: string };
  readonly done: boolean;
}
