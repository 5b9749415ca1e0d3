import path from 'node:path';
import { expect } from 'chai';
import { openGateway } from '#src/features/open.js';
import { DryGateway } from '#src/features/dry-run/dry-gateway.js';
import type { DryOutcome } from '#src/features/dry-run/outcome.js';
import type { DrySettings } from '#src/features/dry-run/settings.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { TempFolders } from '../../whole/temp-folders.js';

const stages =
  'auth body-limit format-decode persona-inject slot-pick upstream-call usage-mask format-encode';

/** A kind of upstream of somebody's own, whose service takes and gives one JSON object. */
const ownKind = `import { GatewayError } from '@gw2api/gateway/plugin';
export default {
  name: 'shout',
  needs: ['baseUrl'],
  async standIn(request, messages) {
    if (new URL(request.url).pathname !== '/shout') throw new Error('there is no such path');
    const { say } = await request.json();
    const body = JSON.stringify({ model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: say }] });
    const answer = await messages(new Request('http://service/v1/messages', { method: 'POST', body }));
    const { content, error } = await answer.json();
    return Response.json({ said: error ? error.message : content[0].text }, { status: answer.status });
  },
  open: (_, { http }) => ({
    async generate({ request, ...call }) {
      const body = JSON.stringify({ say: 'HELLO' });
      const answer = await http.send({ path: http.basePath + request.metadata.path, headers: {}, body }, call);
      throw new GatewayError('upstream_invalid_response', await answer.text(), { failure: { kind: 'foreign' } });
    },
  }),
};`;

describe('the stand-in of a kind of upstream in a dry run', () => {
  const open: DryGateway[] = [];
  const folders = new TempFolders();

  afterEach(() => Promise.all(open.splice(0).map((dry) => dry.close())));
  after(() => folders.remove());

  async function dryGateway(slots: string, settings: DrySettings = {}): Promise<DryGateway> {
    const pipeline = stages.split(' ').map((use) => `  - use: ${use}\n`);
    const text = `pipeline:\n${pipeline.join('')}slots:\n${slots}\nmodels: ./models.yaml\n`;
    const file = path.resolve('config/gateway.yaml'); // for the models beside it
    const dry = await DryGateway.open(
      await loadGatewayConfig({ text, file, env: {} }),
      openGateway,
      settings,
    );
    open.push(dry);
    return dry;
  }

  async function ask(dry: DryGateway, fields: object = {}): Promise<DryOutcome> {
    const body = {
      model: 'sonnet-5',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hi' }],
      ...fields,
    };
    const [only] = await dry.send([{ path: '/v1/messages', body }]);
    return only!;
  }

  describe('bedrock', () => {
    const slots = ['a', 'b'].map(
      (id) =>
        `  - { id: ${id}, upstream: bedrock, with: { region: us-east-1 }, ` +
        `models: { sonnet-5: vendor.sonnet-5-v1:0 }, account: { kind: bearer, token: secret } }`,
    );
    const one = (settings?: DrySettings) => dryGateway(slots[0]!, settings);

    it('answers in the frames of its service, streamed and whole', async () => {
      const dry = await one({ slots: { a: ['say text="Good day."'] } });
      for (const stream of [false, true]) {
        const outcome = await ask(dry, { stream });
        expect(outcome, JSON.stringify(outcome.error)).to.include({
          status: 200,
          text: 'Good day.',
          slot: 'a',
        });
        expect(outcome.complete).to.equal(true);
        expect(outcome.usage.billed.input).to.be.above(outcome.usage.shown.input);
      }
    });

    it('shows the request as it went out', async () => {
      const { upstream, outgoing } = await ask(await one());
      expect(upstream).to.include({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 64 });
      expect(upstream).not.to.have.property('model');
      const call = outgoing.find(({ body }) => body === upstream);
      expect(call?.path).to.equal('/model/vendor.sonnet-5-v1:0/invoke-with-response-stream');
      expect(call?.credential).to.deep.equal(['authorization']);
    });

    it('fails as its service does, so that another slot is asked', async () => {
      for (const fault of ['429 retry-after=30', '529', '500']) {
        const dry = await dryGateway(slots.join('\n'), { slots: { a: [fault], b: [fault] } });
        dry.answerWith('b', []);
        const outcomes = [await ask(dry), await ask(dry)];
        expect(
          outcomes.map(({ status, slot }) => [status, slot]),
          fault,
        ).to.deep.equal([
          [200, 'b'],
          [200, 'b'],
        ]);
        const codes = outcomes.flatMap(({ calls }) => calls.flatMap(({ code }) => code ?? []));
        expect(codes.join(), fault).to.match(/Exception$/);
      }
    });

    it('breaks off, sends an error, and refuses, where the scenario says so', async () => {
      const dry = await one();
      for (const [scenario, code] of [
        ['cut after=5', /upstream|interrupted|incomplete/],
        ['reset', /upstream/],
        ['400 message="No."', /invalid_request|Validation/],
      ] as const) {
        dry.answerWith('a', [scenario]);
        const { error, status } = await ask(dry);
        expect(status, scenario).to.be.above(399);
        expect(error?.code, scenario).to.match(code);
      }
    });
  });

  const pdf = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' },
  };

  for (const [kind, path, systemText] of [
    ['chat', '/v1/chat/completions', 'messages[0].content'],
    ['responses', '/v1/responses', 'instructions'],
  ] as const)
    describe(kind, () => {
      const one = (settings?: DrySettings) =>
        dryGateway(
          `  - { id: a, upstream: ${kind}, baseUrl: 'https://${kind}.example/v1', account: { kind: api-key, key: secret } }`,
          settings,
        );

      it('answers in the events of its service, and counts tokens', async () => {
        const dry = await one({ slots: { a: ['say text="Good day."'] } });
        for (const stream of [false, true]) {
          const outcome = await ask(dry, { stream });
          expect(outcome, JSON.stringify(outcome.error)).to.include({
            status: 200,
            text: 'Good day.',
            slot: 'a',
          });
          expect(outcome.complete).to.equal(true);
          expect(outcome.usage.billed.input).to.be.above(0);
          expect(outcome.upstream).to.have.nested.property(systemText).that.is.a('string');
          expect(outcome.outgoing.at(-1)).to.include({ path });
        }
      });

      it('thinks, refuses, and reads documents', async () => {
        const dry = await one({ slots: { a: ['thinking'] } });
        const content = [pdf, { type: 'text', text: 'hi' }];
        const messages = [{ role: 'user', content }];
        const thought = await ask(dry, { messages });
        expect(thought, JSON.stringify(thought.error)).to.include({ status: 200 });
        expect(thought.answer).to.have.nested.property('content[0].type', 'thinking');
        dry.answerWith('a', ['refusal']);
        const { answer } = await ask(dry);
        expect(answer).to.include({ stop_reason: 'refusal' });
      });

      it('calls tools, and takes their results', async () => {
        const dry = await one({ slots: { a: ['parallel n=2'] } });
        const tools = ['one', 'two'].map((name) => ({
          name,
          input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        }));
        const { answer } = await ask(dry, { tools });
        const { content, stop_reason: reason } = answer as {
          content: { type: string; id: string }[];
          stop_reason: string;
        };
        expect(reason).to.equal('tool_use');
        const calls = content.filter(({ type }) => type === 'tool_use');
        expect(calls).to.have.length(2);
        dry.answerWith('a', ['say text="Done."']);
        const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' }));
        const messages = [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content },
          { role: 'user', content: results },
        ];
        const after = await ask(dry, { tools, messages });
        expect(after, JSON.stringify(after.error)).to.include({ status: 200, text: 'Done.' });
      });

      it('fails as a server of its kind does', async () => {
        const dry = await one();
        for (const [scenario, status] of [
          ['429 retry-after=30', 429],
          ['400 message="No."', 400],
        ] as const) {
          dry.answerWith('a', [scenario]);
          expect((await ask(dry)).status, scenario).to.equal(status);
          await dry.pass(60_000);
        }
        dry.answerWith('a', ['cut after=5']);
        const { error } = await ask(dry, { stream: true });
        expect(error?.code).to.match(/upstream|interrupted|incomplete/);
      });
    });

  describe('vertex', () => {
    const slots = ['a', 'b'].map(
      (id) =>
        `  - { id: ${id}, upstream: vertex, with: { project: p }, account: { kind: bearer, token: secret } }`,
    );

    it('answers streamed and whole, and shows the request as it went out', async () => {
      const dry = await dryGateway(slots[0]!, { slots: { a: ['say text="Good day."'] } });
      for (const stream of [false, true]) {
        const outcome = await ask(dry, { stream });
        expect(outcome, JSON.stringify(outcome.error)).to.include({
          status: 200,
          text: 'Good day.',
          complete: true,
        });
        expect(outcome.upstream).to.include({ anthropic_version: 'vertex-2023-10-16', max_tokens: 64 });
        expect(outcome.outgoing.map((call) => call.path).join()).to.include(
          'models/claude-sonnet-5:streamRawPredict',
        );
      }
    });

    it('fails as its service does, so that another slot is asked', async () => {
      for (const [fault, code] of [
        ['429 retry-after=30', 'rate_limit_error'],
        ['529', 'overloaded_error'],
        ['500', 'api_error'],
      ] as const) {
        const dry = await dryGateway(slots.join('\n'), { slots: { a: [fault], b: [fault] } });
        dry.answerWith('b', []);
        const outcomes = [await ask(dry), await ask(dry)];
        expect(
          outcomes.map(({ status, slot }) => [status, slot]),
          fault,
        ).to.deep.equal([
          [200, 'b'],
          [200, 'b'],
        ]);
        const codes = outcomes.flatMap(({ calls }) => calls.flatMap(({ code }) => code ?? []));
        expect(codes, fault).to.include(code);
      }
    });

    it('breaks off where the scenario says so', async () => {
      const dry = await dryGateway(slots[0]!, { slots: { a: ['cut after=5'] } });
      const { error } = await ask(dry, { stream: true });
      expect(error?.code).to.match(/upstream|interrupted|incomplete/);
    });
  });

  it('is the simulator for a service of the Messages API, also below a path', async () => {
    const slots = `  - { id: a, upstream: messages, baseUrl: 'https://a.example/anthropic', account: { kind: api-key, key: secret } }`;
    const { status, outgoing } = await ask(await dryGateway(slots));
    expect(status).to.equal(200);
    expect(outgoing[0]!.path).to.match(/^\/anthropic\/v1\/messages/);
  });

  it('is what a kind of somebody else says', async () => {
    const folder = await folders.make({ 'shout.mjs': ownKind });
    const dry = await dryGateway(`  - { id: a, upstream: ${folder}/shout.mjs, baseUrl: http://service }`, {
      slots: { a: ['say text="Good day."'] },
    });
    const said = await ask(dry, { metadata: { path: '/shout' } });
    expect(said.error?.message).to.equal('{"said":"Good day."}');
    const failed = await ask(dry, { metadata: { path: '/other' } });
    expect(failed.error?.message).to.match(/stand-in .* failed: there is no such path/);
  });
});
