import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { freePort } from './free-port.js';
import { ask, masterKey, slotAt, startGateway, type GatewayUnderTest } from './harness.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import { SocketClient } from './socket-client.js';
import { TempFolders, writeIn } from './temp-folders.js';

/** An example of config/deploy, and what makes a whole config of it on loopback ports. */
interface Example {
  readonly file: string;
  readonly variable: 'GW_TEST_CADDY' | 'GW_TEST_NGINX';
  readonly args: (folder: string) => readonly string[];
  readonly whole: (text: string, place: Place) => string;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  /** Host and port of the gateway. */
  readonly gateway: string;
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const examples: readonly Example[] = [
  {
    file: 'Caddyfile',
    variable: 'GW_TEST_CADDY',
    args: (folder) => ['run', '--config', path.join(folder, 'config'), '--adapter', 'caddyfile'],
    whole: (text, { folder, port, gateway }) =>
      `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${folder}\n}\n${text
        .replace('gateway.example.com {', `http://127.0.0.1:${port} {`)
        .replace('reverse_proxy 127.0.0.1:8787', `reverse_proxy ${gateway}`)}`,
  },
  {
    file: 'nginx.conf',
    variable: 'GW_TEST_NGINX',
    args: (folder) => ['-p', folder, '-c', path.join(folder, 'config'), '-e', 'stderr'],
    whole: (text, { folder, port, gateway }) =>
      [
        'daemon off;',
        'worker_processes 1;',
        `pid ${folder}/nginx.pid;`,
        'events { worker_connections 1024; }',
        'http {',
        'access_log off;',
        ...temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`),
        text
          .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
          .replace(/^.*ssl_certificate.*\n/gm, '')
          .replace('server 127.0.0.1:8787', `server ${gateway}`),
        '}',
      ].join('\n'),
  },
];

for (const example of examples) {
  const program = process.env[example.variable];
  describe(`config/deploy/${example.file}`, function () {
    this.timeout(60_000);
    const folders = new TempFolders();
    let upstream: HeldUpstream;
    let under: GatewayUnderTest;
    let proxy: Proxy;

    before(async function () {
      if (!program) return this.skip();
      upstream = await startHeldUpstream();
      const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
      under = await startGateway({ listen, slots: [slotAt(upstream.url)] });
      proxy = await Proxy.start(program, example, {
        folder: await folders.make(),
        gateway: new URL(under.url).host,
      });
    });
    after(async () => {
      await proxy?.end();
      await under?.close();
      await upstream?.close();
      await folders.remove();
    });

    const post = (body: object, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${proxy.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey, ...headers },
        body: JSON.stringify(body),
      });

    it('passes each event on as it comes', async () => {
      const answer = await post(ask('Hi', { stream: true }));
      const held = await upstream.next();
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      await until(reader, 'Hello.');
      held.say('and more');
      await until(reader, 'and more');
      held.finish();
      await until(reader, 'message_stop');
    });

    it('passes a body of some megabytes on, and the caller’s end', async () => {
      const leaving = new AbortController();
      const body = JSON.stringify(ask('x'.repeat(3_000_000), { stream: true }));
      const answer = await fetch(`${proxy.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
        body,
        signal: leaving.signal,
      });
      const held = await upstream.next();
      expect(answer.status).to.equal(200);
      expect(held.text.length).to.be.above(3_000_000);
      leaving.abort();
      expect(await held.closed).to.equal(false);
    });

    it('tells the gateway the address of the caller, and not what the caller says of it', async () => {
      const answer = await post({ model: 'sonnet-5' }, { 'x-forwarded-for': '203.0.113.9' });
      expect(answer.status).to.equal(400);
      await answer.text();
      await under.gateway.exchanges.idle();
      const line = under.logged.findLast(({ msg }) => msg === 'request');
      expect(line).to.include({ client: '127.0.0.1', status: 400 });
    });

    it('passes WebSockets on', async () => {
      const client = await SocketClient.open({ url: proxy.url });
      client.create({ input: 'Hi' });
      (await upstream.next()).finish();
      let type: unknown;
      for (let messages = 0; type !== 'response.completed' && messages < 50; messages += 1)
        ({ type } = await client.next());
      expect(type).to.equal('response.completed');
      client.socket.close();
      await client.closed;
    });

    it('keeps metrics and administration to itself', async () => {
      for (const inside of ['/metrics', '/admin/slots'])
        expect((await fetch(proxy.url + inside, { headers: { 'x-api-key': masterKey } })).status).to.equal(
          404,
        );
    });
  });
}

/** Reads on until a text has come. */
async function until(reader: ReadableStreamDefaultReader<string>, text: string): Promise<void> {
  for (let read = ''; !read.includes(text);) {
    const { done, value = '' } = await reader.read();
    if (done) throw new Error(`The stream ended before "${text}" came.`);
    read += value;
  }
}

/** A reverse proxy in a process of its own. */
class Proxy {
  readonly url: string;
  readonly #child: ChildProcess;
  #stderr = '';

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
    child.stderr?.on('data', (text: Buffer) => (this.#stderr += text.toString()));
  }

  static async start(program: string, example: Example, place: Omit<Place, 'port'>): Promise<Proxy> {
    const { folder } = place;
    const port = await freePort();
    const text = await readFile(path.join('config/deploy', example.file), 'utf8');
    await writeIn(folder, 'config', example.whole(text, { ...place, port }));
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const proxy = new Proxy(`http://127.0.0.1:${port}`, spawn(program, example.args(folder), { env }));
    await eventually(() => proxy.#answers(), 20_000);
    return proxy;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #answers(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`It has ended: ${this.#stderr}`);
    return fetch(`${this.url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
