import { expect } from 'chai';
import { stringify } from 'yaml';
import { appOf } from '#src/gateway/app.js';
import type { RequestWatch } from '#src/gateway/extension.js';
import { Gateway, type Extension } from '#src/gateway/gateway.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { openOperators } from '#src/operator/operators.js';
import { createLogger } from '#src/gateway/telemetry/logs.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, configOf, masterKey, slotAt } from '../../harness.js';

describe('a request and the watches of extensions', () => {
  let simulator: Simulator;
  let gateway: Gateway;
  let url: string;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(async () => {
    await gateway.close();
    await simulator.close();
  });

  async function open(extensions: readonly Extension[]): Promise<void> {
    const text = stringify(configOf({ slots: [slotAt(simulator.url)] }));
    const config = await loadGatewayConfig({ text, file: 'config', env: {} });
    const loadConfig = () => Promise.resolve(config);
    const options = { log: createLogger('silent'), masterKey, loadConfig, extensions };
    const app = appOf(config, (opened) => openOperators(opened, []));
    gateway = await Gateway.create(config, options, app);
    url = await gateway.listen();
  }

  async function post(): Promise<void> {
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
      body: JSON.stringify(ask('Hi')),
    });
    expect(answer.status, await answer.text()).to.equal(200);
    await gateway.exchanges.idle();
  }

  it('are nothing that it calls where all extensions are off', async () => {
    await open([]);
    await post();
    expect(Object.values(gateway.watches).filter((hook) => hook !== undefined)).to.deep.equal([]);
  });

  it('are called by it in the order of its life', async () => {
    const called: string[] = [];
    const says = (hook: keyof RequestWatch) => () => void called.push(hook);
    const watch: RequestWatch = {
      listening: says('listening'),
      place: () => void called.push('place'),
      runtimeOf: () => void called.push('runtimeOf'),
      begin: says('begin'),
      complete: ({ row }) => {
        called.push('complete');
        row.errorTexts = { text: 'secret', calls: [] };
      },
      settled: ({ row }) => void called.push(`settled ${JSON.stringify(row).includes('secret')}`),
    };
    await open([{ name: 'all', starts: () => true, open: async () => ({ api: undefined, watch }) }]);
    await post();
    expect(called).to.deep.equal(['listening', 'place', 'runtimeOf', 'begin', 'complete', 'settled false']);
  });
});
