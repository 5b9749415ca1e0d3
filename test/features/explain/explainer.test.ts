import { createHash } from 'node:crypto';
import path from 'node:path';
import { expect } from 'chai';
import { openGateway } from '#src/features/open.js';
import type { DrySettings } from '#src/features/dry-run/settings.js';
import { explain, Explainer } from '#src/features/explain/explainer.js';
import type { ExplainedStage, Explanation, ExplainRequest } from '#src/features/explain/explanation.js';
import { withoutTexts } from '#src/features/explain/without-texts.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { TempFolders } from '../../whole/temp-folders.js';

const config = `
pipeline:
  - use: auth
  - use: body-limit
  - use: format-decode
  - use: rate-limit
  - { use: persona-inject, with: { text: 'Be brief.' } }
  - { use: max-tokens, when: { model: 'opus-*' } }
  - use: redact
  - use: slot-pick
  - use: upstream-call
  - use: usage-mask
  - use: format-encode
slots:
  - id: a
    upstream: messages
    baseUrl: https://a.example
    account: { kind: api-key, key: secret-of-a }
    headers: { x-team: team-secret }
    proxy: http://user:proxy-secret@127.0.0.1:1
    models: [sonnet-5]
  - { id: b, upstream: messages, baseUrl: 'https://b.example', account: { kind: api-key, key: secret-of-b } }
models: ./models.yaml
`;

const hi = { model: 'sonnet-5', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };

const noState = { shared: [], inFlight: {}, bindings: [] };

function load(text = config) {
  const file = path.resolve('config/gateway.yaml'); // for the models beside it
  return loadGatewayConfig({ text, file, env: {} });
}

describe('an explanation', () => {
  async function explained(
    request: Partial<ExplainRequest> = {},
    settings: DrySettings = {},
    text?: string,
  ): Promise<Explanation> {
    return explain(await load(text), { path: '/v1/messages', body: hi, ...request }, openGateway, settings);
  }

  it('shows a request that failed over: both choices, and why the first slot is not taken again', async () => {
    const { answer, calls, choices } = await explained({}, { slots: { a: ['429 retry-after=60'] } });
    expect(answer.status).to.equal(200);
    expect(calls).to.deep.equal([{ slot: 'a', code: 'rate_limit_error' }, { slot: 'b' }]);
    expect(choices.map(({ slot }) => slot)).to.deep.equal(['a', 'b']);
    expect(choices[1]!.slots[0]).to.include({ slot: 'a', notTaken: 'cooling' });
    expect(choices[1]!.slots[0]!.cooldown).to.have.property('reason', 'rate_limited');
  });

  it('shows the fields of a caller that Messages has no name for, where they are read and where they change', async () => {
    const messages = [{ role: 'user', name: 'bob', content: 'hi' }];
    const prediction = { type: 'content', content: 'Write to jo@example.com.' };
    const body = { model: 'sonnet-5', messages, seed: 7, prediction };
    const { stages } = await explained({ path: '/v1/chat/completions', body });
    const changesOf = (name: string) => stages.find(({ stage }) => stage === name)?.request.changes;
    expect(changesOf('format-decode')?.slice(1)).to.deep.equal([
      { path: 'messages[0].content[0].extras', after: { name: 'bob' } },
      { path: 'extras', after: { seed: 7, prediction } },
    ]);
    expect(changesOf('redact')).to.deep.equal([
      {
        path: 'extras.prediction.content',
        before: '‹hidden, 24 characters›',
        after: 'Write to [EMAIL_1].',
      },
    ]);
  });

  it('shows a request that a limit of its key refuses, and the stages that it did not reach', async () => {
    const explainer = await Explainer.open(await load(), openGateway, {
      keys: { small: { requestsPerMinute: 1 } },
    });
    const request = { path: '/v1/messages', body: hi, key: 'small' };
    expect((await explainer.explain(request)).answer.status).to.equal(200);
    const { answer, stages, outgoing } = await explainer.explain(request);
    await explainer.close();
    expect(answer).to.deep.include({ status: 429, complete: true });
    expect(answer.error).to.have.property('code', 'rate_limited');
    expect(outgoing).to.deep.equal([]);
    expect(stageOf(stages, 'rate-limit')).to.deep.include({ result: 'failed', error: answer.error });
    expect(stageOf(stages, 'format-encode').reason).to.deep.equal({ kind: 'not-reached' });
  });

  it('shows slots that the key may not use, and one whose session is bound to another', async () => {
    const key = 'mine';
    const keys = { mine: { id: 'key_mine', slots: ['a'] } };
    const refused = await explained({ key, body: { ...hi, model: 'haiku-4-5' } }, { keys });
    expect(refused.choices[0]!.slots.find(({ slot }) => slot === 'b')).to.include({ notTaken: 'not_of_key' });
    const session = createHash('sha256').update('s1').digest('hex');
    const bound = { key: `key_mine:${session}`, slotId: 'b', untilMs: Date.now() + 60_000 };
    const settings = { keys: { mine: { id: 'key_mine' } }, state: { ...noState, bindings: [bound] } };
    const { choices } = await explained({ key, headers: { 'x-session-id': 's1' } }, settings);
    expect(choices[0]).to.include({ slot: 'b', bound: 'b' });
    expect(choices[0]!.slots[0]).to.include({ slot: 'a', notTaken: 'bound_elsewhere' });
  });

  it('begins with the state that the slots are in', async () => {
    const { choices } = await explained({}, { state: { ...noState, inFlight: { a: 1000 } } });
    expect(choices[0]!.slots[0]).to.include({ slot: 'a', notTaken: 'full', inFlight: 1000 });
    expect(choices[0]).to.include({ slot: 'b' });
  });

  it('names fields that no upstream can be told', async () => {
    const body = { model: 'sonnet-5', messages: hi.messages, logit_bias: { 5: 1 } };
    const { dropped } = await explained({ path: '/v1/chat/completions', body });
    expect(dropped).to.deep.equal(['logit_bias']);
  });

  it('shows what each stage changes, and which ones the request has passed by', async () => {
    const { stages, tokens } = await explained();
    expect(stageOf(stages, 'persona-inject').request.changes).to.deep.equal([
      { path: 'system', after: [{ type: 'text', text: 'Be brief.' }] },
    ]);
    expect(stageOf(stages, 'max-tokens').reason).to.deep.equal({
      kind: 'when',
      conditions: ['model is opus-*'],
    });
    expect(stageOf(stages, 'usage-mask').events?.usage).to.have.property('input_tokens');
    expect(tokens.added).to.be.above(0);
    expect(tokens.additions.system).to.be.above(0);
  });

  it('shows what `redact` has put in place of personal data, and not what was there', async () => {
    const content = 'write to someone@example.com';
    const body = { ...hi, messages: [{ role: 'user', content }] };
    const { stages, outgoing } = await explained({ body });
    expect(stageOf(stages, 'redact').request.changes).to.deep.equal([
      {
        path: 'messages[0].content',
        before: `‹hidden, ${content.length} characters›`,
        after: 'write to [EMAIL_1]',
      },
    ]);
    expect(JSON.stringify(stages)).not.to.include('someone@');
    expect(JSON.stringify(outgoing)).not.to.include('someone@');
  });

  it('has no secret: not of the account, the slot’s headers, its proxy, nor the caller’s key', async () => {
    const headers = { authorization: 'Bearer sk-of-the-caller' };
    const explanations = [await explained(), await explained({ headers })];
    const [{ outgoing }] = explanations as [Explanation];
    expect(outgoing[0]!.headers).to.include({ 'x-api-key': '***', 'x-team': '***' });
    for (const secret of ['secret-of-a', 'team-secret', 'proxy-secret', 'sk-of-the-caller'])
      expect(JSON.stringify(explanations)).not.to.include(secret);
  });

  it('has no credential of the caller in an error that repeats it', async () => {
    const headers = { 'x-api-key': 'sk-of-the-caller' };
    const body = { ...hi, model: 'sk-of-the-caller' };
    const explanation = await explained({ headers, body });
    expect(JSON.stringify(explanation)).not.to.include('sk-of-the-caller');
  });

  it('has no text without texts, and still the stages, the slots and the codes', async () => {
    const body = { ...hi, system: 'private words', messages: [{ role: 'user', content: 'private' }] };
    const whole = await explained({ body }, { slots: { a: ['400 message="private"'] } });
    const bare = withoutTexts(whole);
    expect(JSON.stringify(whole)).to.include('private');
    expect(JSON.stringify(bare)).not.to.match(/private|Be brief/);
    expect(bare.stages.map(({ stage }) => stage)).to.deep.equal(whole.stages.map(({ stage }) => stage));
    expect(bare.answer.error?.code).to.equal(whole.answer.error?.code);
    expect(bare.choices).to.have.length(1);
  });

  it('has the bodies of the first calls alone, however many a stage makes', async () => {
    const folders = new TempFolders();
    const folder = await folders.make({
      'many.mjs': `export default {
        name: 'many', requires: ['request'], intercepts: true,
        setup: () => ({
          async intercept(request, call) {
            for (let at = 1; at < 100; at += 1) for await (const batch of (await call(request)).events) void batch;
            return call(request);
          },
        }),
      };`,
    });
    const text = config.replace('  - use: slot-pick', `  - use: ${folder}/many.mjs\n  - use: slot-pick`);
    const body = { ...hi, messages: [{ role: 'user', content: 'word '.repeat(12_000) }] };
    const explanation = await explained({ body }, {}, text);
    expect(explanation.calls).to.have.length(100);
    const shown = explanation.outgoing.filter(({ body: sent }) => JSON.stringify(sent).length > 60_000);
    expect(shown).to.have.length(20);
    expect(explanation.outgoing.at(-1)!.body).to.match(/^omitted/);
    expect(JSON.stringify(explanation).length).to.be.below(20 * 70_000 + 100 * 4000);
    await folders.remove();
  });

  it('never has base64', async () => {
    const data = Buffer.from('x'.repeat(3000)).toString('base64');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const body = { ...hi, messages: [{ role: 'user', content: [image] }] };
    const { outgoing } = await explained({ body });
    expect(outgoing[0]!.body).to.have.nested.property(
      'messages[0].content[0].source.data',
      '‹base64, 4000 characters›',
    );
  });
});

function stageOf(stages: readonly ExplainedStage[], name: string): ExplainedStage {
  const found = stages.find(({ stage }) => stage === name);
  if (!found) throw new Error(`There is no stage ${name}.`);
  return found;
}
