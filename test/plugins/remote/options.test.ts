import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import type { MessagesRequest, Plugin } from '@gw2api/gateway/plugin';
import { eventsOf, fakeHost, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import { stageParts } from '#src/engine/pipeline/stage/stage-parts.js';
import remote from '#plugins/remote/index.js';
import { makeCertificate } from '../../whole/certificates.js';
import { TempFolders } from '../../whole/temp-folders.js';
import { serveRemote, type Answerer, type Service } from './service.js';

const request: MessagesRequest = {
  model: 'm',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
      ],
    },
  ],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
};

describe('the options of remote', () => {
  const folders = new TempFolders();
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
    await folders.remove();
  });

  async function serve(answer: Answerer): Promise<Service> {
    const service = await serveRemote(answer);
    services.push(service);
    return service;
  }

  it('trust a private certificate by tls.ca, and no other', async () => {
    const folder = await folders.make({});
    await makeCertificate(folder, 'dlp', 'localhost');
    const read = (file: string) => readFile(path.join(folder, file));
    const server = createServer(
      { cert: await read('dlp.crt'), key: await read('dlp.key') },
      (asked, answer) => {
        asked.resume().on('end', () => answer.end('{"version":1,"verdict":"allow"}'));
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const ask = async (options: object): Promise<number> => {
      const host = fakeHost({ resolvePath: (file) => path.join(folder, file) });
      const { status } = await runStage(remote, { host, options: { url, ...options }, state: { request } });
      await host.dispose();
      return status;
    };
    expect(await ask({ tls: { ca: 'dlp.crt' } })).to.equal(204);
    expect(await ask({})).to.equal(502);
    expect(await ask({ tls: { ca: 'gone.crt' } }).catch(String)).to.include('with.tls.ca cannot be read');
    server.close();
    server.closeAllConnections();
  });

  it('allow http:// to another machine by insecure', async () => {
    const options = { url: 'http://dlp.example/check' };
    expect(await setUp(options).catch(String)).to.include('is http:// to another machine');
    expect(await setUp({ ...options, insecure: true })).to.have.property('intercept');
  });

  it('say whether requests keep their beginning', () => {
    const { keepsPrefix } = remote as { readonly keepsPrefix: (options: object) => boolean };
    const kept = [
      { on: ['request'] },
      { on: ['request'], keepsPrefix: true },
      { on: ['request'], audit: true },
      { on: ['events'] },
    ].map((options) => keepsPrefix(options));
    expect(kept.map(Boolean)).to.deep.equal([false, true, true, true]);
  });

  it('keep the query of the url', async () => {
    const service = await serve(() => ({ verdict: 'allow' }));
    await runStage(remote, { options: { url: `${service.url}?team=red` }, state: { request } });
    expect(service.questions.map((question) => question.path)).to.deep.equal(['/check?team=red']);
  });

  it('send tools, which a reply may take away with the choice of one', async () => {
    const service = await serve(() => ({ verdict: 'change', set: { tools: null } }));
    const state = { request: { ...request, tool_choice: { type: 'any' as const } } };
    const sent: MessagesRequest[] = [];
    await runStage(remote, {
      options: { url: service.url, send: ['tools'] },
      state,
      call: async (outgoing) => {
        sent.push(outgoing);
        return replyOf(eventsOf(...messageEvents()));
      },
    });
    expect(service.questions[0]!.body.request).to.deep.equal({ tools: request.tools });
    expect(sent[0]).to.not.have.any.keys('tools', 'tool_choice');
  });

  it('probe the way to the service, and name the step that fails', async () => {
    const service = await serve(() => ({ verdict: 'allow' }));
    const working = await setUp({ url: service.url });
    await working.probe?.();
    const broken = await setUp({ url: 'http://127.0.0.1:1' });
    const failed = await Promise.resolve(broken.probe?.()).catch(String);
    expect(failed)
      .to.include('http://127.0.0.1:1: ')
      .and.match(/request|connect/);
  });

  it('give a guard of LiteLLM the images of a request, and the calls of an answer', async () => {
    const service = await serve(() => ({ action: 'NONE' }));
    const content = [{ type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }] as const;
    await runStage(remote, {
      options: { url: service.url, protocol: 'litellm', on: ['request', 'answer'] },
      state: { request, requestId: 'r1', delivery: 'whole' },
      call: async () => replyOf(eventsOf(...messageEvents({ content, stopReason: 'tool_use' }))),
    });
    const [asked, answered] = service.questions;
    expect(asked!.body.images).to.deep.equal(['data:image/png;base64,AAAA', 'https://x.example/a.png']);
    expect(answered!.body).to.deep.include({
      input_type: 'response',
      texts: [],
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    });
  });
});

/** Parts of the stage, set up with these options and the defaults of the others. */
async function setUp(given: object) {
  const defaults = {
    insecure: false,
    protocol: 'gw2api',
    on: ['request'],
    send: ['messages'],
    timeout: '1s',
    audit: false,
    lost: 'end',
    chunk: { chars: 400, after: '250ms' },
    hold: '64kb',
    answer: '1mb',
    context: {},
    keepsPrefix: false,
  };
  const plugin: Plugin = remote;
  return stageParts(await plugin.setup({ ...defaults, ...given }, fakeHost()), plugin);
}
