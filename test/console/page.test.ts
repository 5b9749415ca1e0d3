import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { createPage } from '#src/console/page.js';
import { startPair, type Pair } from '../whole/harness.js';
import { errorIn, raw } from '../whole/kit.js';

describe('the page at /panel', () => {
  let pair: Pair;
  let html: string;
  before(async () => {
    pair = await startPair();
    html = await (await fetch(`${pair.url}/panel`)).text();
  });
  after(() => pair.close());

  const assets = () =>
    [...html.matchAll(/(?:src|href)="(\/panel\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  const script = () => assets().find((path) => path.endsWith('.js'))!;

  it('needs no key', async () => {
    const response = await fetch(`${pair.url}/panel`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
  });

  it('allows nothing from elsewhere and nothing inline, and has nothing of the kind', async () => {
    const { headers } = await fetch(`${pair.url}/panel`);
    const policy = headers.get('content-security-policy');
    expect(policy)
      .to.include("default-src 'self'")
      .and.include("frame-ancestors 'none'")
      .and.not.include('unsafe');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(html).not.to.match(/<style|style=|<script(?![^>]*src=)|https?:/);
  });

  it('is asked for each time, and sent only where it has changed', async () => {
    const { headers } = await fetch(`${pair.url}/panel`);
    expect(headers.get('cache-control')).to.equal('no-cache');
    const encoding = { 'accept-encoding': 'gzip, deflate' }; // as fetch has asked, for each has a tag of its own
    const again = await raw(`${pair.url}/panel`, {
      headers: { ...encoding, 'if-none-match': headers.get('etag')! },
    });
    expect(again.status).to.equal(304);
    expect(again.text).to.equal('');
  });

  for (const path of [
    '/panel/',
    '/panel/slots',
    '/panel/requests/1700000000000.a-b-c',
    '/panel/no/such/place',
  ])
    it(`is at ${path} too, for it knows its own places`, async () => {
      expect(await (await fetch(pair.url + path)).text()).to.equal(html);
    });

  it('has assets that may be kept for ever', async () => {
    expect(assets().length).to.be.greaterThan(2);
    for (const path of assets()) {
      const response = await fetch(pair.url + path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    }
  });

  it('sends what the browser can unpack, which is the same in every encoding', async () => {
    const send = async (encoding: string) => {
      const { headers } = await raw(pair.url + script(), {
        method: 'HEAD',
        headers: { 'accept-encoding': encoding },
      });
      const response = await fetch(pair.url + script(), { headers: { 'accept-encoding': encoding } });
      return { headers, text: await response.text() };
    };
    const [brotli, gzip, plain] = await Promise.all([send('gzip, br'), send('gzip'), send('identity')]);
    expect([brotli, gzip, plain].map(({ headers }) => headers['content-encoding'])).to.deep.equal([
      'br',
      'gzip',
      undefined,
    ]);
    expect(new Set([brotli, gzip, plain].map(({ headers }) => headers.etag)).size).to.equal(3);
    expect(brotli.text).to.equal(plain.text);
    expect(gzip.text).to.equal(plain.text);
    expect(plain.headers.vary?.toLowerCase()).to.include('accept-encoding');
    expect(Number(brotli.headers['content-length'])).to.be.lessThan(
      Number(plain.headers['content-length']) / 2,
    );
  });

  it('answers HEAD with the length and nothing else', async () => {
    const answer = await raw(`${pair.url}/panel`, { method: 'HEAD' });
    expect(answer.status).to.equal(200);
    expect(Number(answer.headers['content-length'])).to.equal(Buffer.byteLength(html));
    expect(answer.text).to.equal('');
  });

  it('says 404 for an asset that is not there', async () => {
    for (const path of [
      '/panel/assets/none.js',
      '/panel/assets/%2e%2e%2findex.html',
      '/panel/assets/',
      '/panelx',
    ])
      expect(await errorIn(await fetch(pair.url + path)), path).to.include({
        status: 404,
        code: 'not_found',
      });
  });

  it('takes no other method', async () => {
    const response = await fetch(`${pair.url}/panel`, { method: 'POST' });
    expect(response.headers.get('allow')).to.equal('GET, HEAD');
    expect(await errorIn(response)).to.include({ status: 405, code: 'method_not_allowed' });
  });

  it('has at most 150 kB of script, gzipped, in all', async () => {
    const folder = pathToFileURL(`${resolve('dist/console/web/assets')}/`);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.js.gz'));
    const sizes = await Promise.all(
      names.map(async (name) => (await readFile(new URL(name, folder))).length),
    );
    expect(sizes.length).to.be.greaterThan(1); // what draws charts is loaded with them
    expect(sizes.reduce((total, size) => total + size, 0)).to.be.at.most(150_000);
  });

  it('was packed without loss', async () => {
    const folder = pathToFileURL(`${resolve('dist/console/web')}/`);
    const read = (name: string) => readFile(new URL(name, folder));
    expect(brotliDecompressSync(await read('index.html.br')).toString()).to.equal(html);
    expect(gunzipSync(await read('index.html.gz')).toString()).to.equal(html);
  });
});

describe('the page where it was not built', () => {
  let folder: string;
  let server: Server;
  let url: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-page-'));
    const app = new Koa();
    app.use(createPage(pathToFileURL(`${folder}/web/`)));
    const handle = app.callback();
    server = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/panel`;
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  it('says in words how to build it', async () => {
    const response = await fetch(url);
    expect(response.status).to.equal(503);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(await response.text()).to.include('npm run build');
  });

  it('is there without a restart once it was built', async () => {
    await mkdir(join(folder, 'web'));
    await writeFile(join(folder, 'web', 'index.html'), '<!doctype html>built');
    const response = await fetch(url);
    expect(await response.text()).to.equal('<!doctype html>built');
  });
});
