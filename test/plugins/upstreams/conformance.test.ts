import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathToFileURL } from 'node:url';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { UpstreamKind } from '#src/plugin/contract/slot/upstream.js';
import { upstreamChecks, type PlayedScenario, type UpstreamScenario } from '@gw2api/gateway/testing';
import bedrock from '#plugins/upstreams/bedrock/index.js';
import messages from '#plugins/upstreams/messages/index.js';
import simulator from '#plugins/upstreams/simulator/index.js';
import vertex from '#plugins/upstreams/vertex/index.js';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { startBedrock } from '../../support/bedrock-server.js';
import { Kit, later } from '../../engine/transport/upstream-kit.js';
import { ndjsonUpstream } from './ndjson.js';

const markers: Readonly<Record<UpstreamScenario, string>> = {
  answer: 'Hello',
  refusal: '[[sim:429 retry-after=7]]',
  cut: '[[sim:tokens n=400]] [[sim:cut after=5]]',
  endless: '[[sim:size kb=30000]]',
};

describe('upstreams over the simulator', () => {
  let close: () => Promise<void> = async () => undefined;
  afterEach(() => close());

  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => {
    const blocked = later();
    const closed = later();
    const server = await startSimulator({
      onRequest(request) {
        void request.blocked.then(blocked.resolve);
        void request.closed.then(() => closed.resolve());
      },
    });
    close = () => server.close();
    return { baseUrl: server.url, text: markers[scenario], blocked: blocked.promise, closed: closed.promise };
  };
  for (const { name, run } of upstreamChecks({ kind: messages, play })) it(`messages ${name}`, run);
  const options = { project: 'test-project', region: 'us-east5' };
  for (const { name, run } of upstreamChecks({ kind: vertex, options, play })) it(`vertex ${name}`, run);
});

describe('the upstream bedrock', () => {
  let close: () => Promise<void> = async () => undefined;
  afterEach(() => close());

  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => {
    const blocked = later();
    const closed = later();
    const server = await startBedrock({
      onRequest(request) {
        void request.blocked.then(blocked.resolve);
        void request.closed.then(() => closed.resolve());
      },
    });
    close = () => server.close();
    return { baseUrl: server.url, text: markers[scenario], blocked: blocked.promise, closed: closed.promise };
  };
  for (const { name, run } of upstreamChecks({ kind: bedrock, play })) it(name, run);
});

describe('the upstream simulator', () => {
  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => ({ text: markers[scenario] });
  for (const { name, run } of upstreamChecks({ kind: simulator, others: [messages], play })) it(name, run);
});

describe('an upstream of newline-delimited JSON, from a folder of its own', () => {
  const kit = new Kit();
  let folder = '';
  let kind: UpstreamKind;
  before(async () => {
    // Within the repository, where Node itself finds the package; a gateway finds it from anywhere.
    folder = await mkdtemp(path.join('build', 'test', 'upstream-'));
    await writeFile(path.join(folder, 'lines.mjs'), ndjsonUpstream);
    const module = (await import(pathToFileURL(path.resolve(folder, 'lines.mjs')).href)) as {
      default: UpstreamKind;
    };
    kind = module.default;
  });
  after(() => rm(folder, { recursive: true }));
  afterEach(() => kit.close());

  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => {
    const blocked = later();
    const closed = later();
    const baseUrl = await kit.serve((_: IncomingMessage, response: ServerResponse) => {
      response.once('close', () => closed.resolve());
      return answers[scenario](response, () => blocked.resolve());
    });
    return { baseUrl, blocked: blocked.promise, closed: closed.promise };
  };
  const line = (json: object) => `${JSON.stringify(json)}\n`;
  const answers: Readonly<Record<UpstreamScenario, (to: ServerResponse, block: () => void) => unknown>> = {
    answer: (to) => to.end(line({ text: 'Hi' }) + line({ text: ' there' }) + line({ done: true, tokens: 2 })),
    refusal: (to) => to.writeHead(429, { 'retry-after': '7' }).end('{"error":"too many"}'),
    cut: (to) => to.write(line({ text: 'Hi' }), () => to.destroy()),
    async endless(to, block) {
      to.setMaxListeners(0);
      const text = line({ text: 'x'.repeat(10_000) });
      while (!to.destroyed) {
        if (to.write(text)) continue;
        const drained = once(to, 'drain').catch(() => undefined);
        const isDrained = await Promise.race([
          drained.then(() => true),
          new Promise<boolean>((resolve) => void setTimeout(resolve, 200, false)),
        ]);
        if (!isDrained) block();
        await Promise.race([drained, once(to, 'close')]);
      }
    },
  };
  const subject = {
    get kind() {
      return kind;
    },
    play,
  };
  for (const { name, run } of upstreamChecks(subject)) it(name, run);
});
