import { expect } from 'chai';
import { signingKey } from '#src/plugin/remote/index.js';
import { remoteChecks, runChecks } from '#src/cli/test-remote/run-checks.js';
import { hasLanguage, referenceServer, RemoteProcesses, remoteSecret } from '../../support/remote-process.js';
import { wrongServers } from './wrong-servers.js';

/** Checks that run where they are not to fail, too: those that take little time. */
const quick = remoteChecks
  .map(({ name }) => name)
  .filter((name) => !/^(?:huge-|abort-|growing-|split-unicode|state|no-delay|at-once)/.test(name));

describe('a server of remote stages with a fault', function () {
  this.timeout(60_000);
  const servers = new RemoteProcesses();
  afterEach(() => servers.end());

  for (const { fault, fails, from, to, language = 'mjs', ends = false, among = quick } of wrongServers)
    it(`that ${fault} fails ${fails.join(', ')}`, async function () {
      if (!hasLanguage(language)) this.skip();
      const right = await referenceServer(language);
      expect(right.split(from)).to.have.length(2);
      const url = await servers.start(
        right.replace(from, () => to),
        { language },
      );
      const checks = remoteChecks.filter(({ name }) => fails.includes(name) || among.includes(name));
      const results = await runChecks({ url, key: signingKey(remoteSecret) }, checks);
      const failed = results.filter(({ result }) => result === 'failed').map(({ name }) => name);
      expect(ends ? failed.slice(0, 1) : failed, JSON.stringify(results)).to.deep.equal(fails);
    });

  it('is found by each check', () => {
    const found = new Set(wrongServers.flatMap(({ fails }) => fails));
    expect([...found]).to.have.members(remoteChecks.map(({ name }) => name));
  });
});
