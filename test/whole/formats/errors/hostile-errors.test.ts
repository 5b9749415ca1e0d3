import { expect } from 'chai';
import { createLogger } from '#src/gateway/telemetry/logs.js';
import { ask, stages } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PluginWorkshop } from '../../process/plugins/plugin-workshop.js';

/** What a plugin may throw, and still its caller is answered and the log has a line. */
const thrown: Readonly<Record<string, string>> = {
  'a frozen error': `Object.freeze(new Error('SECRET'))`,
  'an error whose message throws': `Object.defineProperty(new Error(), 'message', { get() { throw new Error('SECRET'); } })`,
  'an error whose every getter throws': `new Proxy(new Error('SECRET'), { get() { throw new Error('SECRET'); } })`,
  'a proxy that answers nothing': `new Proxy({}, { get() { throw 1; }, has() { throw 1; }, getPrototypeOf() { throw 1; }, ownKeys() { throw 1; } })`,
  'a proxy that was revoked': `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()`,
  'a symbol': `Symbol('SECRET')`,
  'a big number': `10n`,
  'a function': `() => 'SECRET'`,
  null: `null`,
  'an error that is its own cause': `(() => { const e = new Error('SECRET'); e.cause = e; return e; })()`,
  'a branded error of wrong parts': `Object.assign(new Error('SECRET'), { [Symbol.for('gw2api.GatewayError')]: true, status: 'x', code: 5 })`,
  'a branded error of no headers': `Object.assign(new Error('SECRET'), { [Symbol.for('gw2api.GatewayError')]: true, status: 99, code: 'a', type: 'b', headers: null })`,
};

describe('an error that breaks the error path', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  async function startWith(text: string): Promise<void> {
    const plugin = `import { GatewayError } from '@gw2api/gateway/plugin';
      export default { name: 'bad', setup: () => ${text} };`;
    await shop.start([{ use: './bad.js' }, ...stages()], { 'bad.js': plugin });
  }

  const internal = {
    status: 500,
    type: 'api_error',
    code: 'internal',
    message: 'The stage "bad" failed on request req-bad; see the log.',
  };
  const id = { 'x-request-id': 'req-bad' };

  for (const [what, value] of Object.entries(thrown))
    it(`is answered with the error object, and written by the log: ${what}`, async () => {
      await startWith(`async () => { throw ${value}; }`);
      expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi'), id))).to.deep.equal(internal);
      const lines = shop.under.logged.filter(({ level }) => level === 'error');
      expect(lines.map(({ msg }) => msg)).to.deep.equal(['The gateway failed.']);
      expect(lines[0]).to.include({ stage: 'bad', path: 'pipeline[0]' });
      expect(writtenOf(lines[0]!)).to.have.property('msg', 'The gateway failed.');
    });

  it('keeps the code of one whose headers cannot be sent, and the headers that can', async () => {
    const headers = `{ 'x-good': 'yes', 'x bad': 'no', 'x-line': 'a\\nb', 'x-number': 5, '': 'no' }`;
    await startWith(
      `async () => { throw new GatewayError('rate_limited', 'Slowly.', { headers: ${headers} }); }`,
    );
    const response = await shop.under.post('/v1/messages', ask('Hi'));
    expect(response.headers.get('x-good')).to.equal('yes');
    expect(await errorIn(response)).to.include({ status: 429, code: 'rate_limited', message: 'Slowly.' });
  });

  it('keeps the status of Koa where its headers cannot be sent', async () => {
    await startWith(`async (ctx) => ctx.throw(418, 'Tea.', { headers: { 'bad name': 'x' } })`);
    expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi')))).to.include({ status: 418 });
  });

  for (const [what, text] of Object.entries({
    frozen: `Object.freeze(ctx.state)`,
    'taken away': `ctx.state = null`,
    'another one': `ctx.state = {}`,
  }))
    it(`is told of where the state is ${what}`, async () => {
      await startWith(`async (ctx, next) => { ${text}; await next(); }`);
      const { message, ...error } = await errorIn(await shop.under.post('/v1/messages', ask('Hi'), id));
      expect(error).to.deep.equal({ status: 500, type: 'api_error', code: 'internal' });
      expect(message).to.match(/^The stage "(?:bad|auth)" failed on request req-bad; see the log\.$/);
      expect(shop.under.logged.filter(({ msg }) => msg === 'The gateway failed.')).to.have.length(1);
      await shop.under.gateway.exchanges.idle();
      expect(shop.under.logged.find(({ msg }) => msg === 'request')).to.include({
        status: 500,
        code: 'internal',
      });
      expect((await shop.under.get('/health')).status).to.equal(200);
    });
});

/** The line as the process writes it. */
function writtenOf(line: Readonly<Record<string, unknown>>): unknown {
  let written = '';
  const log = createLogger('info', { write: (text) => void (written += text) });
  const { msg, ...fields } = line;
  log.error(fields, String(msg));
  return JSON.parse(written);
}
