import { expect } from 'chai';
import { ask, slotAt, startGateway, startPair, type Pair } from '../../harness.js';
import { scripted } from '../../scripted-upstream.js';

interface Body {
  readonly type?: unknown;
  readonly request_id?: unknown;
  readonly error: Readonly<Record<string, unknown>>;
}

const json = { 'content-type': 'application/json' };
const text = [{ role: 'user', content: 'Hello!' }];

const messagesPaths = ['/v1/messages', '/messages', '/v1/messages/count_tokens'];
const openaiPaths = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/completions',
  '/v1/responses/input_tokens',
];

async function bodyOf(response: Response): Promise<Body> {
  expect(response.headers.get('content-type')).to.match(/^application\/json/);
  return (await response.json()) as Body;
}

function expectMessages(body: Body, id: string | null): void {
  expect(body).to.have.keys('type', 'error', 'request_id');
  expect(body.type).to.equal('error');
  expect(body.request_id).to.equal(id).and.not.equal(null);
  expect(body.error).to.include.keys('type', 'code', 'message');
}

describe('the body of an error', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  for (const path of messagesPaths) {
    it(`has type and request_id beside the error object at ${path}`, async () => {
      for (const body of [{ model: 'sonnet-5' }, { messages: [] }]) {
        const response = await pair.post(path, body);
        expect(response.status).to.equal(400);
        expectMessages(await bodyOf(response), response.headers.get('request-id'));
      }
      const unnamed = await fetch(`${pair.url}${path}`, { method: 'POST', headers: json, body: '{}' });
      expect(unnamed.status).to.equal(401);
      expectMessages(await bodyOf(unnamed), unnamed.headers.get('request-id'));
    });
  }

  it("has the caller's own request id in it", async () => {
    const response = await pair.post('/v1/messages', {}, { 'x-request-id': 'mine-1' });
    expectMessages(await bodyOf(response), 'mine-1');
    expect(response.headers.get('request-id')).to.equal('mine-1');
  });

  for (const path of openaiPaths) {
    it(`has param in the error object at ${path}, null where no field is at fault`, async () => {
      const unnamed = await fetch(`${pair.url}${path}`, { method: 'POST', headers: json, body: '{}' });
      const { error, ...others } = await bodyOf(unnamed);
      expect(others).to.deep.equal({});
      expect(error).to.have.keys('type', 'code', 'message', 'param');
      expect(error).to.include({ code: 'missing_api_key', param: null });
    });
  }

  it('names the field at fault as param', async () => {
    const messages = [{ role: 'user', content: 'a' }, { role: 'user', content: 7 }]; // prettier-ignore
    const response = await pair.post('/v1/chat/completions', { model: 'sonnet-5', messages });
    expect((await bodyOf(response)).error).to.include({ param: 'messages[1].content' });
  });

  it('is in the form of a format on paths below its own and for other methods', async () => {
    const below = await pair.get('/v1/messages/batches');
    expectMessages(await bodyOf(below), below.headers.get('request-id'));
    const method = await pair.get('/v1/messages');
    expect(method.status).to.equal(405);
    expectMessages(await bodyOf(method), method.headers.get('request-id'));
    const chat = await pair.get('/v1/chat/completions/chatcmpl-1');
    expect((await bodyOf(chat)).error).to.include({ code: 'not_found', param: null });
  });

  for (const path of ['/v1/models/unknown', '/models/unknown', '/v1/embeddings', '/v1/models?limit=0']) {
    it(`has the members of both vendors at ${path}`, async () => {
      const response = await pair.get(path);
      const body = await bodyOf(response);
      expectMessages(body, response.headers.get('request-id'));
      expect(body.error).to.have.property('param');
    });
  }

  it('is the error object alone on paths of the console and of operators', async () => {
    for (const path of ['/admin/nothing', '/api/panel/keys', '/nothing']) {
      const body = await bodyOf(await fetch(pair.url + path));
      expect(body, path).to.have.keys('error');
      expect(body.error, path).to.have.keys('type', 'code', 'message');
    }
  });

  it("keeps an upstream's param and request id", async () => {
    const error = { type: 'invalid_request_error', message: 'Bad.', code: 'bad_value', param: 'temperature' };
    const upstream = await scripted((_, response) => {
      response.writeHead(400, { ...json, 'request-id': 'req_up' }).end(JSON.stringify({ error }));
    });
    const under = await startGateway({ slots: [slotAt(upstream.url)] });
    const chat = await bodyOf(
      await under.post('/v1/chat/completions', { model: 'sonnet-5', messages: text }),
    );
    const messages = await bodyOf(await under.post('/v1/messages', ask('Hello!')));
    await under.close();
    await upstream.close();
    expect(chat.error).to.deep.equal(error);
    expectMessages(messages, 'req_up');
  });
});
