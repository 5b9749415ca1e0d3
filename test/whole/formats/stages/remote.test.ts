import { expect } from 'chai';
import { serveRemote, type Answerer, type Service } from '../../../plugins/remote/service.js';
import { dialects, formatNames } from '../dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { errorIn, inFlight, lastCall, startTeam, only, callsTo } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

const text = `${'All is well. '.repeat(40)}The word is swordfish, and ${'so on. '.repeat(60)}`;
const said = `[[sim:say text="${text}"]]`;

interface Delta {
  readonly type: string;
  readonly delta?: { readonly text?: string };
}

function textOf(events: readonly Delta[]): string {
  return events.map(({ delta }) => delta?.text ?? '').join('');
}

/** Lets out no "swordfish", however it is split over deltas and chunks. */
const withoutWord: Answerer = ({ body }) => {
  if (body.phase === 'request') return { verdict: 'allow' };
  const found = textOf(body.events as readonly Delta[]);
  if (found.includes('swordfish')) return { verdict: 'refuse', message: 'That word is secret.' };
  const isHalf = Array.from('swordfish', (_, at) => 'swordfish'.slice(0, at + 1)).some((start) =>
    found.endsWith(start),
  );
  return { verdict: isHalf && !body.last ? 'hold' : 'allow' };
};

describe('a remote stage of a gateway', () => {
  let pair: Pair | undefined;
  let service: Service | undefined;
  const folders = new TempFolders();
  afterEach(async () => {
    await pair?.close();
    await service?.close();
    pair = undefined;
    service = undefined;
  });
  after(() => folders.remove());

  function pipeline(options: object, entry: object): readonly object[] {
    const all = stages({ with: { 'slot-pick': { policy: 'priority' } } });
    const at = all.findIndex((each) => (each as { use: string }).use === 'slot-pick');
    const stage = { use: 'remote', name: 'dlp', with: { url: service!.url, ...options }, ...entry };
    return [...all.slice(0, at), stage, ...all.slice(at)];
  }

  async function start(answer: Answerer, options: object = {}, entry: object = {}): Promise<Pair> {
    service = await serveRemote(answer);
    return (pair = await startPair({ pipeline: pipeline(options, entry) }));
  }

  const refusals = {
    messages: /"stop_reason":"refusal"/,
    chat: /"finish_reason":"content_filter"/,
    responses: /"type":"refusal","refusal":"That word is secret/,
    completions: /"finish_reason":"content_filter"/,
  };
  for (const format of formatNames)
    for (const stream of [false, true])
      it(`refuses an answer while it streams: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { path, request, fold, whole } = dialects[format];
        const gateway = await start(withoutWord, { on: ['events'], chunk: { chars: 7 } });
        const body = await (await gateway.post(path, { ...request(said), stream })).text();
        const answered = JSON.stringify(await (stream ? fold(body) : whole(JSON.parse(body))));
        expect(answered).not.to.match(/swordf/);
        expect(answered).to.match(refusals[format]);
        expect(inFlight(gateway)).to.deep.equal([0]);
        expect(service!.questions[0]!.body).to.include({ format, stream, stage: 'dlp', phase: 'events' });
      });

  for (const format of formatNames)
    it(`passes on an answer that it allows, byte for byte as without it: ${format}`, async () => {
      const { path, request, fold } = dialects[format];
      const plain = await startPair({});
      const body = { ...request('[[sim:tool]] Hi'), stream: true };
      const before = await (await plain.post(path, body)).text();
      await plain.close();
      const gateway = await start(() => ({ verdict: 'allow' }), { on: ['request', 'events'] });
      const now = await (await gateway.post(path, body)).text();
      const comparable = async (stream: string) =>
        JSON.stringify(await fold(stream)).replaceAll(
          /"(id|created|created_at|completed_at)":("[^"]*"|\d+)/g,
          '',
        );
      expect(await comparable(now)).to.equal(await comparable(before));
    });

  it('denies a request in the dialect of its caller, and takes no slot', async () => {
    const gateway = await start(() => ({
      verdict: 'deny',
      status: 429,
      message: 'Too much.',
      retryAfter: 7,
    }));
    for (const format of formatNames) {
      const { path, request } = dialects[format];
      const answer = await gateway.post(path, request('Hi'));
      expect(answer.headers.get('retry-after')).to.equal('7');
      expect(await errorIn(answer)).to.include({ status: 429, message: 'Too much.' });
    }
    expect(callsTo(gateway.simulator)).to.have.length(0);
  });

  it('changes a request, which goes upstream so, and its token count, too', async () => {
    const gateway = await start(() => ({
      verdict: 'change',
      set: { messages: [{ role: 'user', content: 'my ***' }] },
    }));
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      await (await gateway.post(path, ask('my secret'))).text();
      expect(lastCall(gateway.simulator)).to.deep.include({
        messages: [{ role: 'user', content: 'my ***' }],
      });
    }
  });

  it('fails with 502 where its service fails, and continues without it by onError: skip', async () => {
    const gateway = await start(() => ({ verdict: 'maybe' }));
    expect(await errorIn(await gateway.post('/v1/messages', ask('Hi')))).to.include({
      status: 502,
      code: 'stage_failed',
      message: 'A check of this gateway failed. Try again in a moment.',
    });
    await gateway.close();
    pair = await startPair({
      pipeline: pipeline({ on: ['request', 'events'] }, { onError: 'skip' }),
    });
    for (const stream of [false, true]) {
      const answer = await pair.post('/v1/messages', ask('Hi', { stream }));
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('x-gw-skipped')).to.match(/^dlp(, dlp)?$/);
      expect(await answer.text()).to.match(/end_turn/);
    }
  });

  it('sees the answer of the slot that a failover has moved to, once', async () => {
    service = await serveRemote(() => ({ verdict: 'allow' }));
    pair = await startTeam({ pipeline: pipeline({ on: ['answer'] }, {}) });
    pair.simulator.faults.push(only('a', '529'));
    const answer = await pair.post('/v1/messages', ask('Hi'));
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gw-slot')).to.equal('b');
    await answer.text();
    expect(service.questions).to.have.length(1);
  });

  it('is asked about each choice in a conversation of its own', async () => {
    const gateway = await start(() => ({ verdict: 'allow' }), { on: ['request', 'answer'] });
    const { path, request } = dialects.chat;
    await (await gateway.post(path, { ...request('Hi'), n: 2 }, { 'x-request-id': 'abc' })).text();
    const ids = service!.questions.map(({ body, headers }) => [body.id, headers['webhook-id']]);
    expect(ids).to.have.deep.members([
      ['abc', 'abc.request.0'],
      ['abc', 'abc.answer.0'],
      ['abc:2', 'abc:2.answer.0'],
    ]);
  });

  it('counts its questions', async () => {
    const gateway = await start(() => ({ verdict: 'allow' }), { on: ['request', 'events'] });
    await (await gateway.post('/v1/messages', ask('Hi'))).text();
    const metrics = await (await gateway.get('/metrics')).text();
    expect(metrics).to.include('gw2api_remote_calls_total{stage="dlp",phase="request",result="allow"} 1');
    expect(metrics).to.match(/gw2api_remote_calls_total\{stage="dlp",phase="events",result="allow"\} \d/);
  });

  it('ends its question when the caller leaves', async () => {
    let ended: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (ended = resolve));
    const asked = new AbortController();
    const gateway = await start(
      () => (response) => {
        response.on('close', ended);
        asked.abort();
      },
      { timeout: '30s' },
    );
    const body = JSON.stringify(ask('Hi'));
    const headers = { 'content-type': 'application/json', 'x-api-key': 'test-master-key' };
    const answer = fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      body,
      headers,
      signal: asked.signal,
    });
    await answer.catch(() => undefined);
    await closed;
  });

  it('puts questions to a guard of LiteLLM', async () => {
    const gateway = await start(
      ({ body }) => {
        const texts = body.texts as readonly string[];
        if (texts.some((each) => each.includes('evil')))
          return { action: 'BLOCKED', blocked_reason: 'No evil.' };
        if (body.input_type === 'request') return { action: 'NONE' };
        return {
          action: 'GUARDRAIL_INTERVENED',
          texts: texts.map((each) => each.replace('swordfish', '***')),
        };
      },
      { protocol: 'litellm', on: ['request', 'answer'], secret: 'guard-key', context: { level: 2 } },
    );
    const answer = await gateway.post('/v1/messages', ask(said));
    expect(await answer.text()).to.include('The word is ***, and');
    const [question] = service!.questions;
    expect(question).to.include({ path: '/check/beta/litellm_basic_guardrail_api' });
    expect(question!.headers).to.include({ 'x-api-key': 'guard-key' });
    expect(question!.body).to.deep.include({
      texts: [said],
      input_type: 'request',
      additional_provider_specific_params: { level: 2 },
    });
    expect(await errorIn(await gateway.post('/v1/messages', ask('evil')))).to.include({
      status: 403,
      code: 'stage_denied',
      message: 'No evil.',
    });
    const refused = await gateway.post('/v1/messages', ask('[[sim:say text="e"]][[sim:say text="evil"]]'));
    await refused.text();
  });

  it('takes another number of texts from a guard of LiteLLM for a failure', async () => {
    const gateway = await start(() => ({ action: 'GUARDRAIL_INTERVENED', texts: ['Hi', 'Ho'] }), {
      protocol: 'litellm',
    });
    expect(await errorIn(await gateway.post('/v1/messages', ask('Hi')))).to.include({ code: 'stage_failed' });
  });
});
