import { expect } from 'chai';
import { ask, stages } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PluginWorkshop } from './plugin-workshop.js';
import type { Files } from '../../temp-folders.js';

describe('a plugin of somebody else', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  describe('a plugin by its path', () => {
    const forms: Files = {
      'esm.js': `import { definePlugin, GatewayError } from '@gw2api/gateway/plugin';
      import { Type } from 'typebox';
      export default definePlugin({
        name: 'esm',
        requires: ['request'],
        provides: ['request'],
        options: Type.Object({ word: Type.String({ default: 'please' }) }),
        setup: ({ word }) => async (ctx, next) => {
          if (!(new GatewayError('internal', '') instanceof Error)) throw new Error();
          const { request } = ctx.state;
          ctx.state.request = { ...request, system: word };
          await next();
        },
      });`,
      'plain.js': `export default {
        name: 'plain',
        requires: ['request'],
        provides: ['request'],
        setup: () => async (ctx, next) => {
          ctx.state.request = { ...ctx.state.request, system: 'please' };
          await next();
        },
      };`,
      'factory.js': `export default function factory({ word }) {
        return async (ctx, next) => { ctx.set('x-word', word); await next(); };
      }`,
      'common.cjs': `module.exports = {
        name: 'common',
        requires: ['request'],
        provides: ['request'],
        setup: () => async (ctx, next) => {
          ctx.state.request = { ...ctx.state.request, system: 'please' };
          await next();
        },
      };`,
      'sub/asynchronous.mjs': `export default async ({ word }) => async (ctx, next) => { ctx.set('x-word', word); await next(); };`,
    };

    for (const use of ['./esm.js', './plain.js', './common.cjs'])
      it(`changes the request: ${use}`, async () => {
        const [auth, limit, decode, ...rest] = stages({ without: ['persona-inject'] });
        await shop.start([auth!, limit!, decode!, { use }, ...rest], forms);
        const response = shop.under.post('/v1/chat/completions', {
          model: 'sonnet-5',
          messages: [{ role: 'user', content: 'Hi' }],
        });
        const call = await shop.upstream.next();
        expect(call.text).to.match(/"system":(\[\{"type":"text","text":)?"please"/);
        call.finish();
        expect((await response).status).to.equal(200);
      });

    for (const use of ['./factory.js', './sub/asynchronous.mjs'])
      it(`is any Koa middleware, which sees every request under /v1: ${use}`, async () => {
        await shop.start([{ use, with: { word: 'please' } }, ...stages()], forms);
        const answers = [
          await shop.answered(),
          await shop.under.get('/v1/models'),
          await shop.under.get('/models/x'),
          await shop.under.get('/v1/x'),
        ];
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 404, 404]);
        for (const { headers } of answers) expect(headers.get('x-word')).to.equal('please');
        expect((await shop.under.get('/health')).headers.get('x-word')).to.equal(null);
      });
  });

  describe('a condition', () => {
    const tag: Files = {
      'tag.js': `export default { name: 'tag', requires: ['request', 'caller'], setup: () => async (ctx, next) => {
      ctx.set('x-tag', 'yes'); await next(); } };`,
      'any.js': `export default () => async (ctx, next) => { ctx.set('x-tag', 'yes'); await next(); };`,
    };

    async function startWhen(when: object): Promise<void> {
      const [auth, limit, decode, ...rest] = stages();
      await shop.start([auth!, limit!, decode!, { use: './tag.js', when }, ...rest], tag);
    }

    const isTagged = (response: Response) => response.headers.get('x-tag') === 'yes';
    const chat = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hi' }] };

    it('on the format holds for requests of that format', async () => {
      await startWhen({ format: ['chat', 'completions'] });
      expect(isTagged(await shop.answered(chat, {}, '/v1/chat/completions'))).to.equal(true);
      expect(isTagged(await shop.answered({ model: 'sonnet-5', prompt: 'Hi' }, {}, '/completions'))).to.equal(
        true,
      );
      expect(isTagged(await shop.answered())).to.equal(false);
    });

    it('on the model holds for catalog ids, also by an alias', async () => {
      await startWhen({ model: 'sonnet-5' });
      expect(isTagged(await shop.answered(ask('Hi')))).to.equal(true);
      expect(isTagged(await shop.answered(ask('Hi', { model: 'sonnet' })))).to.equal(true);
      expect(isTagged(await shop.answered(ask('Hi', { model: 'sonnet-5-5' })))).to.equal(false);
      expect(isTagged(await shop.answered(ask('Hi', { model: 'unknown' })))).to.equal(false);
    });

    it('on the caller holds for key ids and names', async () => {
      await startWhen({ caller: ['master', 'nobody'] });
      expect(isTagged(await shop.answered())).to.equal(true);
      await shop.under.close();
      await startWhen({ caller: 'team-*' });
      expect(isTagged(await shop.answered())).to.equal(false);
    });

    it('on the operation holds for requests of that kind', async () => {
      await shop.start([...stages(), { use: './any.js', when: { operation: ['models', 'usage'] } }], tag);
      expect(isTagged(await shop.under.get('/v1/models'))).to.equal(true);
      expect(isTagged(await shop.under.get('/v1/usage'))).to.equal(true);
      expect(isTagged(await shop.answered())).to.equal(false);
    });

    it('has to hold in all its parts', async () => {
      await startWhen({ format: 'messages', model: 'haiku-*' });
      expect(isTagged(await shop.answered(ask('Hi', { model: 'haiku-5' })))).to.equal(true);
      expect(isTagged(await shop.answered(ask('Hi')))).to.equal(false);
      expect(
        isTagged(await shop.answered({ ...chat, model: 'haiku-5' }, {}, '/v1/chat/completions')),
      ).to.equal(false);
    });
  });

  describe('a stage that is switched off', () => {
    it('is neither loaded nor checked nor passed', async () => {
      await shop.start([
        { use: './not-there.js', enabled: false, with: { key: '${NOT_SET}' } },
        ...stages().map((stage) =>
          'use' in stage && stage.use === 'max-tokens' ? { ...stage, enabled: false } : stage,
        ),
      ]);
      const response = shop.under.post('/v1/messages', ask('Hi', { max_tokens: 999_999 }));
      const call = await shop.upstream.next();
      expect(JSON.parse(call.text)).to.include({ max_tokens: 999_999 });
      call.finish();
      expect((await response).status).to.equal(200);
    });
  });

  describe('a plugin in place of a built-in', () => {
    function replaced(name: string): readonly object[] {
      return stages().map((stage) =>
        'use' in stage && stage.use === name ? { use: `./own-${name}.js` } : stage,
      );
    }

    it('can be its own auth', async () => {
      await shop.start(replaced('auth'), {
        'own-auth.js': `import { definePlugin, GatewayError } from '@gw2api/gateway/plugin';
        export default definePlugin({
          name: 'own-auth',
          provides: ['caller'],
          operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
          setup: () => async (ctx, next) => {
            const team = ctx.get('x-team');
            if (!team) throw new GatewayError('missing_api_key', 'Say who you are in x-team.');
            ctx.state.caller = { kind: 'key', keyId: team, name: team };
            await next();
          },
        });`,
      });
      expect((await shop.answered(ask('Hi'), { 'x-team': 'blue' })).status).to.equal(200);
      expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.include({
        status: 401,
        message: 'Say who you are in x-team.',
      });
      expect((await shop.under.get('/v1/models')).status).to.equal(401);
      await shop.under.gateway.exchanges.idle();
      expect(shop.under.logged.filter(({ msg }) => msg === 'request').map(({ key }) => key)).to.include(
        'blue',
      );
    });

    it('can be its own slot-pick, with places that are given back', async () => {
      await shop.start(
        replaced('slot-pick'),
        {
          'own-slot-pick.js': `import { definePlugin } from '@gw2api/gateway/plugin';
          export default definePlugin({
            name: 'own-slot-pick',
            requires: ['request', 'caller'],
            provides: ['picker'],
            operations: ['generate', 'count-tokens'],
            setup: (_, host) => async (ctx, next) => {
              ctx.state.picker = host.slots.picker({
                policy: (candidates) => candidates.find(({ id }) => id === ctx.get('x-slot')) ?? candidates[0],
                caller: ctx.state.caller,
                queueTimeoutMs: 1000,
                caller: ctx.state.caller,
                signal: ctx.state.signal,
              });
              await next();
            },
          });`,
        },
        [{}, { id: 'b' }],
      );
      const response = await shop.answered(ask('Hi'), { 'x-slot': 'b' });
      expect(response.headers.get('x-gw-slot')).to.equal('b');
      await response.text();
      await shop.under.gateway.exchanges.idle();
      expect(shop.under.gateway.services.slots.list().map(({ inFlight }) => inFlight)).to.deep.equal([0, 0]);
    });

    it('can be its own upstream-call, which asks nobody', async () => {
      await shop.start(replaced('upstream-call'), {
        'own-upstream-call.js': `import { definePlugin, EventStream, ModelEvent, wrapCall } from '@gw2api/gateway/plugin';
        const events = [
          { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [],
            stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Canned.' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
          { type: 'message_stop' },
        ];
        export default definePlugin({
          name: 'own-upstream-call',
          requires: ['request', 'picker'],
          provides: ['reply', 'count'],
          seals: ['request', 'picker', 'interceptors'],
          operations: ['generate', 'count-tokens'],
          setup: () => async (ctx, next) => {
            async function* canned() { yield events.map((event) => ModelEvent.of(event)); }
            ctx.state.count = { inputTokens: 7, estimated: true, slot: 'none', windows: undefined };
            const answer = async ({ model }) =>
              ({ status: 200, headers: {}, model, attempts: 0, events: EventStream.from(canned()) });
            ctx.state.reply = await wrapCall(ctx, answer)(ctx.state.request);
            await next();
          },
        });`,
      });
      const whole = await shop.under.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' });
      expect(await whole.text()).to.include('Canned.');
      const stream = await shop.under.post('/v1/completions', {
        model: 'sonnet-5',
        prompt: 'Hi',
        stream: true,
      });
      expect(await stream.text()).to.match(/Canned\.[^]*\[DONE\]/);
      const count = await shop.under.post('/v1/messages/count_tokens', ask('Hi'));
      expect(await count.json()).to.deep.equal({ input_tokens: 7 });
    });

    it('can be its own format-encode', async () => {
      await shop.start(replaced('format-encode'), {
        'own-format-encode.js': `import { definePlugin } from '@gw2api/gateway/plugin';
        export default definePlugin({
          name: 'own-format-encode',
          requires: ['reply'],
          provides: ['response'],
          seals: ['reply'],
          operations: ['generate', 'count-tokens'],
          setup: () => async (ctx, next) => {
            let text = '';
            for await (const batch of ctx.state.reply.events)
              for (const { type, json } of batch)
                if (type === 'content_block_delta') text += json.delta.text;
            ctx.type = 'text/plain';
            ctx.body = text;
            ctx.state.response = true;
            await next();
          },
        });`,
      });
      const response = await shop.answered();
      expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
      expect(await response.text()).to.equal('Hello.');
    });

    it('is refused where it leaves a key out that the stages below need', async () => {
      const failed = await shop
        .start(replaced('auth'), {
          'own-auth.js': `export default { name: 'own-auth', setup: () => (ctx, next) => next() };`,
        })
        .catch((error: Error) => error.message);
      expect(failed).to.match(
        /"format-decode" needs "caller", which no stage provides; add "- use: auth" above it$/,
      );
    });
  });
});
