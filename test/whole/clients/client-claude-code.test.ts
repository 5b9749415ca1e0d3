import { expect } from 'chai';
import type { ContentBlock } from '@gw2api/gateway/plugin';
import { claudeCodeHeaders as headers, claudeCodeRequest } from './claude-code.js';
import { eventsIn, slotAt, stages, startGateway, startPair, type Pair } from '../harness.js';
import { lastRequest, modelCalls } from './sdk-clients.js';

describe('Claude Code', () => {
  let pair: Pair;
  beforeEach(async () => {
    pair = await startPair();
  });
  afterEach(() => pair.close());

  const path = '/v1/messages?beta=true';

  it('has its body reach the upstream as it was, but for persona, web search and cache ttl', async () => {
    const request = claudeCodeRequest();
    expect(JSON.stringify(request).length).to.be.greaterThan(80_000);
    const response = await pair.post(path, request, headers);
    expect(response.status).to.equal(200);
    expect(await response.text()).to.include('message_stop');
    const [billing, short, long] = request.system as readonly ContentBlock[]; // as built above
    const hour = { type: 'ephemeral', ttl: '1h' };
    const [first, hint, answer] = request.messages;
    expect(lastRequest(pair)).to.deep.equal({
      ...request,
      system: [
        billing,
        { type: 'text', text: 'You are a careful and helpful assistant.' },
        short,
        { ...long, cache_control: hour },
      ],
      tools: [...request.tools!, { type: 'web_search_20250305', name: 'web_search' }],
      messages: [
        first,
        hint,
        answer,
        { role: 'user', content: [{ type: 'text', text: 'Hello!', cache_control: hour }] },
      ],
    });
  });

  it('has its very bytes reach the upstream where no stage edits', async () => {
    const bare = await startGateway({
      slots: [slotAt(pair.simulator.url)],
      pipeline: stages({
        without: ['persona-inject', 'web-search-tool', 'cache-ttl', 'max-tokens', 'tool-choice'],
      }),
    });
    try {
      const request = claudeCodeRequest();
      await (await bare.post(path, request, headers)).text();
      expect(modelCalls(pair).at(-1)?.text).to.equal(JSON.stringify(request));
    } finally {
      await bare.close();
    }
  });

  it('has its betas passed on, and neither its key nor what else it says of itself', async () => {
    await (await pair.post(path, claudeCodeRequest(), headers)).text();
    const { headers: sent, search } = modelCalls(pair).at(-1)!;
    expect(search).to.equal('?beta=true');
    expect(sent).to.include({
      'anthropic-version': headers['anthropic-version'],
      'anthropic-beta': headers['anthropic-beta'],
      'anthropic-dangerous-direct-browser-access': 'true',
      'x-api-key': 'upstream-key-a',
    });
    for (const name of ['authorization', 'cookie', 'x-app', 'x-claude-code-session-id', 'x-stainless-lang'])
      expect(sent).not.to.have.property(name);
  });

  it('gets the text of a 400 word for word, from which it repairs its request', async () => {
    const response = await pair.post(path, claudeCodeRequest({ future_field: { deep: true } }), headers);
    expect(response.status).to.equal(400);
    expect(lastRequest(pair)).to.deep.include({ future_field: { deep: true } });
    expect(await response.json()).to.deep.equal({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'invalid_request_error',
        message: 'future_field: Extra inputs are not permitted',
      },
      request_id: response.headers.get('request-id'),
    });
  });

  it('gets every number that it asks for, of thirty at once', async () => {
    const { stream: _, max_tokens: __, metadata: ___, ...counted } = claudeCodeRequest();
    const answers = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const response = await pair.post('/v1/messages/count_tokens?beta=true', counted, headers);
        return (await response.json()) as { input_tokens: number };
      }),
    );
    for (const { input_tokens } of answers) expect(input_tokens).to.be.greaterThan(20_000);
    expect(pair.simulator.requests).to.have.length(30);
  });

  it('is heard where it greets, lists models and knocks', async () => {
    expect((await fetch(`${pair.url}/api/hello`, { method: 'HEAD' })).status).to.equal(404);
    expect((await fetch(pair.url, { method: 'HEAD' })).status).to.equal(200);
    const listed = await pair.get('/v1/models?limit=1000', headers);
    expect(listed.status).to.equal(200);
    expect(await listed.json()).to.have.property('has_more', false);
  });

  it('gets an answer where it repeats a broken stream without one', async () => {
    pair.simulator.faults.push('cut after=5 times=1 on=generate');
    const broken = eventsIn(await (await pair.post(path, claudeCodeRequest(), headers)).text());
    expect(broken.at(-1)).to.have.property('type', 'error');
    const repeated = await pair.post(path, claudeCodeRequest({ stream: false }), headers);
    expect(repeated.status).to.equal(200);
    expect(await repeated.json()).to.include({ type: 'message', stop_reason: 'end_turn' });
  });

  it('has a search of its own left alone', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 };
    const request = claudeCodeRequest({ tools: [search], tool_choice: { type: 'tool', name: 'web_search' } });
    const { thinking: _, ...rest } = request; // it forces the tool, and so does not think
    await (await pair.post(path, rest, headers)).text();
    expect(lastRequest(pair)).to.deep.include({ tools: [search], tool_choice: request.tool_choice });
  });

  it('never has more cache markers than the upstream takes, though the persona would like one', async () => {
    const cached = await startGateway({
      slots: [slotAt(pair.simulator.url)],
      pipeline: stages({ with: { 'persona-inject': { cache: true } } }),
    });
    try {
      const marked = { type: 'text', text: 'More.', cache_control: { type: 'ephemeral' } };
      const { system } = claudeCodeRequest();
      const own = system as readonly ContentBlock[]; // as built above
      for (const blocks of [own, [...own, marked]]) {
        const response = await cached.post(path, claudeCodeRequest({ system: blocks }), headers);
        expect(response.status).to.equal(200);
        await response.text();
        expect(JSON.stringify(lastRequest(pair)).split('"cache_control"')).to.have.length(5);
      }
    } finally {
      await cached.close();
    }
  });

  it('stays on one slot with all of a session, counts included', async () => {
    const slots = ['a', 'b', 'c'].map((id) => slotAt(pair.simulator.url, { id }));
    const wide = await startGateway({ slots });
    try {
      const slotOf = async (asked: Promise<Response>) => {
        const response = await asked;
        await response.text();
        return response.headers.get('x-gw-slot');
      };
      const { stream: _, max_tokens: __, metadata: ___, ...counted } = claudeCodeRequest();
      const first = await slotOf(wide.post(path, claudeCodeRequest(), headers));
      const others = await Promise.all([
        slotOf(wide.post(path, claudeCodeRequest(), headers)),
        slotOf(wide.post(path, claudeCodeRequest({ stream: false }), headers)),
        slotOf(wide.post('/v1/messages/count_tokens', counted, headers)),
        slotOf(wide.post('/v1/messages/count_tokens', counted, headers)),
      ]);
      expect(others).to.deep.equal(others.map(() => first));
    } finally {
      await wide.close();
    }
  });
});
