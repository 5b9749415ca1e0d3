import path from 'node:path';
import { expect } from 'chai';
import { configOf, masterKey, slotAt, stages } from '../../harness.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { writeIn } from '../../temp-folders.js';

/** A test that holds for a persona with this text. */
export function testOf(text: string): object {
  const body = { model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  const expect = { status: 200, upstream: { 'system.0.text': text } };
  return { tests: [{ name: 'has its persona', requests: [{ post: '/v1/messages', body, expect }] }] };
}

export function configWith(text: string, workers = 1): object {
  const config = configOf({
    slots: [slotAt('http://127.0.0.1:9')],
    pipeline: stages({ with: { 'persona-inject': { text } } }),
  });
  return { ...config, listen: { host: '127.0.0.1', port: 0, workers }, store: 'sqlite:./store.sqlite' };
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly status?: string;
    readonly error?: { readonly code: string; readonly message: string; readonly details: Details };
  };
}

interface Details {
  readonly failures: readonly {
    readonly test?: string;
    readonly pipeline?: string;
    readonly message: string;
  }[];
  readonly changes: { readonly stages: readonly { readonly name: string }[] };
}

/** A gateway with a config whose tests fail: they are not run at a start. */
export class TestedGateway {
  readonly #shop = new ProcessWorkshop();
  #gateway: GatewayProcess | undefined;
  folder = '';

  get process(): GatewayProcess {
    return this.#gateway!;
  }

  async start(workers: number): Promise<void> {
    this.folder = await this.#shop.folder({
      'gateway.yaml': configWith('old', workers),
      'gateway.test.yaml': testOf('new'),
    });
    this.#gateway = await this.#shop.start({
      args: ['--config', path.join(this.folder, 'gateway.yaml')],
      env: { GW2API_API_KEY: masterKey },
    });
    await this.process.url();
  }

  async reload(query = ''): Promise<Answer> {
    const url = `${await this.process.url()}/admin/reload${query}`;
    const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': masterKey } });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }

  end(): Promise<void> {
    return this.#shop.end();
  }
}

/** A reload takes a config where its tests pass, and keeps the old one where one fails. */
export async function takesTested(gateway: TestedGateway, workers: number): Promise<void> {
  await writeIn(gateway.folder, 'gateway.yaml', configWith('other', workers));
  const { status, body } = await gateway.reload();
  expect([status, body.error!.code]).to.deep.equal([409, 'conflict']);
  expect(body.error!.message).to.match(
    /The tests of the new config fail; the old one stays in force\.\n.*gateway\.test\.yaml:\d+:\d+ "has its persona": .*"new".*"other"/,
  );
  expect(body.error!.details.failures).to.have.length(1);
  expect(body.error!.details.failures[0]!.test).to.equal('has its persona');
  expect(body.error!.details.changes.stages.map(({ name }) => name)).to.deep.equal(['persona-inject']);
  const line = await gateway.process.log('The tests of the new config fail; the old one stays in force.');
  expect(line['failures']).to.deep.equal(body.error!.details.failures);
  expect((await gateway.reload('?tests=no')).status).to.equal(400);
  expect(await gateway.reload('?tests=skip')).to.deep.include({ status: 200 });
  const audit = await gateway.process.log('An operator changed the gateway.');
  expect(audit).to.include({ what: 'config.reload', tests: 'skip', by: 'master' });
  await writeIn(gateway.folder, 'gateway.yaml', configWith('new', workers));
  expect(await gateway.reload()).to.deep.include({ status: 200 });
}

/** SIGHUP refuses a config whose tests fail. */
export async function refusesAtSighup(gateway: TestedGateway, workers: number): Promise<void> {
  await writeIn(gateway.folder, 'gateway.yaml', configWith('other', workers));
  gateway.process.signal('SIGHUP');
  const line = await gateway.process.log('The new config was refused; the old one stays in force.');
  expect(String(line['problems'])).to.match(/gateway\.test\.yaml:\d+:\d+ "has its persona"/);
  const entry = await gateway.process.line(({ name }) => name === 'SIGHUP');
  expect(entry.msg).to.equal('An action of an operator was refused.');
  expect(entry).to.include({ by: 'system', what: 'config.reload', code: 'conflict' });
}
