import { expect } from 'chai';
import { remoteChecks, type CheckResult } from '#src/cli/test-remote/run-checks.js';
import { referenceServer, RemoteProcesses, remoteSecret } from '../../support/remote-process.js';
import { freePort } from '../../whole/free-port.js';
import { ProcessWorkshop } from '../../whole/gateway-process.js';

interface Report {
  readonly url: string;
  readonly signed: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly checks: readonly CheckResult[];
}

describe('gw2api test-remote', function () {
  this.timeout(60_000);
  const servers = new RemoteProcesses();
  const workshop = new ProcessWorkshop();
  afterEach(async () => {
    await servers.end();
    await workshop.end();
  });

  const run = (...args: readonly string[]) => workshop.run({ args: ['test-remote', ...args] });
  const start = async (change: (text: string) => string = (text) => text) =>
    servers.start(change(await referenceServer('mjs')), { language: 'mjs' });
  const unsigned = (text: string) => text.replace('if (!isAuthentic(', 'if (false && !isAuthentic(');

  it('exits with 0 if a server passes all checks, of which there are more than twenty', async () => {
    const url = await start();
    const { code, stdout, stderr } = await run(url.href, '--secret', remoteSecret);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.include(`${url.href}\n  ok  request `).and.include(`\n${remoteChecks.length} passed\n`);
    expect(remoteChecks.length).to.be.above(20);
    expect(stdout).not.to.include(remoteSecret);
  });

  it('leaves the checks of signatures out without a secret, and says so', async () => {
    const url = await start(unsigned);
    const { code, stdout } = await run(url.href);
    expect(code).to.equal(0);
    const count = remoteChecks.filter(({ needsSecret }) => needsSecret).length;
    expect(stdout).to.include(`\n${remoteChecks.length - count} passed, ${count} left out\n`);
    expect(stdout).to.include('The checks of signatures were left out, as they need --secret.\n');
    expect(stdout).not.to.include('replay');
  });

  it('exits with 1 if one fails, and says what the server did', async () => {
    const url = await start((text) => text.replace(' || seen.has(signature)', ''));
    const { code, stdout } = await run(url.href, '--secret', remoteSecret);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^ {2}FAILED {2}replay .*\n {4}it answered 200$/m);
    expect(stdout).to.include(`\n${remoteChecks.length - 1} passed, 1 failed\n`);
  });

  it('prints the same as JSON', async () => {
    const url = await start((text) => text.replace('question.version !== 1', '!question.version'));
    const { code, stdout, stderr } = await run(`${url.href}?token=abc`, '--secret', remoteSecret, '--json');
    expect([code, stderr]).to.deep.equal([1, '']);
    const { checks, ...report } = JSON.parse(stdout) as Report;
    const passed = remoteChecks.length - 1;
    expect(report).to.deep.equal({ url: url.href, signed: true, passed, failed: 1, skipped: 0 });
    expect(checks.map(({ name }) => name)).to.deep.equal(remoteChecks.map(({ name }) => name));
    const failed = checks.find(({ result }) => result === 'failed');
    expect(failed).to.include({ name: 'unknown-version', reason: 'it answered 200' });
  });

  it('does not go on after the first check has failed', async () => {
    const port = await freePort();
    const { code, stdout } = await run(`http://127.0.0.1:${port}`, '--json');
    expect(code).to.equal(1);
    const { failed, skipped, checks } = JSON.parse(stdout) as Report;
    expect([failed, skipped]).to.deep.equal([1, remoteChecks.length - 1]);
    expect(checks[0]!.reason).to.include('ECONNREFUSED');
    expect(checks[1]!.reason).to.equal('the check request failed');
  });

  it('says that a server asks for a signature', async () => {
    const url = await start();
    const { code, stdout } = await run(url.href);
    expect(code).to.equal(1);
    expect(stdout).to.include('it answered 401').and.include('need --secret');
  });

  it('asks by http beyond the loopback addresses only if it is told to', async () => {
    const { port } = await start(unsigned);
    const url = `http://0.0.0.0:${port}`;
    const { code, stderr } = await run(url);
    expect([code, stderr]).to.deep.equal([
      2,
      'http:// is allowed only for loopback addresses; use https://, or add --insecure.\n',
    ]);
    expect((await run(url, '--insecure')).code).to.equal(0);
  });

  const refusals: readonly (readonly [args: readonly string[], says: string])[] = [
    [[], 'The address is missing: gw2api test-remote URL.'],
    [['dlp.example'], '"dlp.example" is not an address such as https://dlp.example/check.'],
    [['ftp://dlp.example'], '"ftp://dlp.example" is not an address such as https://dlp.example/check.'],
    [
      ['https://me:pw@dlp.example'],
      'The address has a user or a password, which a remote stage never sends.',
    ],
    [['http://127.0.0.1:9', '--secret', ''], '--secret is empty; without it no question is signed.'],
    [['http://127.0.0.1:9', '--secret', 'whsec_'], '--secret is empty; without it no question is signed.'],
    [['http://127.0.0.1:9', 'x'], '"x" is one argument too many for test-remote; see --help.'],
  ];
  for (const [args, says] of refusals)
    it(`refuses "${args.join(' ')}" and says what to write`, async () => {
      const { code, stderr } = await run(...args);
      expect([code, stderr]).to.deep.equal([2, `${says}\n`]);
    });
});
