import { expect } from 'chai';
import { FaultyProxy, proxyFaults, type ProxyFault } from '../../support/faulty-proxy.js';
import { outcomeOf, spokenText } from '../../support/remote-outcome.js';
import { hasLanguage, referenceServer, RemoteProcesses, remoteSecret } from '../../support/remote-process.js';
import { ask, masterKey, stages, startPair, type Pair } from '../harness.js';

/** Streams, each with a number: which of its questions is spoiled, and how. */
const streams = Array.from({ length: 16 }, (_, at) => ({
  id: `stream-${at}`,
  fault: at % 2 === 1 ? proxyFaults[((at - 1) / 2) % proxyFaults.length] : undefined,
  seq: at % 3,
}));

describe('a stream through a remote stage whose replies are spoiled', function () {
  this.timeout(60_000);
  const servers = new RemoteProcesses();
  const given = new Map<string, ProxyFault>();
  let proxy: FaultyProxy | undefined;
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    await proxy?.close();
    await servers.end();
    given.clear();
  });

  function faultOf(webhookId: string): ProxyFault | undefined {
    const [id, phase, seq] = webhookId.split('.');
    const { fault } = streams.find((each) => each.id === id && String(each.seq) === seq) ?? {};
    if (phase !== 'events' || !fault) return undefined;
    given.set(id!, fault);
    return fault;
  }

  async function start(language: 'mjs' | 'py'): Promise<Pair> {
    const target = await servers.start(await referenceServer(language), { language });
    proxy = await FaultyProxy.open({ target, faultOf, slowMs: 4000 });
    const on = { on: ['request', 'events'], chunk: { chars: 20 }, timeout: '2s', lost: 'end' };
    const options = { url: proxy.url.href, secret: remoteSecret, ...on };
    const all = stages();
    const at = all.findIndex((stage) => 'use' in stage && stage.use === 'slot-pick');
    pair = await startPair({
      pipeline: [...all.slice(0, at), { use: 'remote', name: 'dlp', with: options }, ...all.slice(at)],
    });
    return pair;
  }

  async function outcome({ url }: Pair, id: string) {
    const headers = { 'content-type': 'application/json', 'x-api-key': masterKey, 'x-request-id': id };
    const body = JSON.stringify(ask(`[[sim:say text="${spokenText}"]] [[sim:slow ms=3]]`, { stream: true }));
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body });
    const text = await response.text();
    return { kind: outcomeOf(response.status, text), text };
  }

  for (const language of ['mjs', 'py'] as const)
    it(`is whole, or refused or ended as configured, and never unguarded: remote.${language}`, async function () {
      if (!hasLanguage(language)) this.skip();
      const started = await start(language);
      await outcome(started, 'warm-up');
      for (const { id } of streams) {
        const { kind, text } = await outcome(started, id);
        const fault = given.get(id);
        expect(kind, `${id}, ${fault}: ${text}`).to.be.oneOf(fault ? ['refused', 'ended'] : ['whole']);
      }
      expect(new Set(given.values())).to.deep.equal(new Set(proxyFaults));
    });
});
