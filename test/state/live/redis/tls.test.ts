import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { startGateway } from '../../../whole/harness.js';
import { makeCertificate } from '../certificates.js';
import { redisProgram } from '../redis-process.js';
import { endsInOrder, forms, isUnavailable, plainServer, TlsWorkshop } from './tls.js';

describe('a Redis server with TLS', () => {
  if (redisProgram === undefined) it('is tested where GW_TEST_REDIS_SERVER names the program');
  else describeTls();
});

function describeTls(): void {
  let workshop: TlsWorkshop;
  beforeEach(() => void (workshop = new TlsWorkshop()));
  afterEach(() => workshop.end());

  for (const [what, options, isTrusted, reason] of [
    ['not trusted', {}, false, /self-signed certificate/],
    ['expired', { isExpired: true }, true, /certificate has expired/],
    ['of another name', { names: 'DNS:elsewhere.example' }, true, /altnames/],
  ] as const)
    it(`leaves a gateway alone where the certificate of a server is ${what}, and does not end it`, async () => {
      const certificate = await makeCertificate(await workshop.folder(), options);
      const live = await workshop.startServers(plainServer, certificate);
      const gateway = await workshop.startGateway(live, isTrusted ? certificate : undefined);
      expect(await workshop.goesOnAlone(gateway)).to.match(reason);
      await endsInOrder(gateway);
    });

  // In this process: what Node is to trust has to be known at its start, but here nothing is.
  for (const form of forms.filter((each) => each !== plainServer))
    it(`leaves a gateway alone where the certificate of ${form.form} is not trusted, and does not end it`, async () => {
      const live = await workshop.startServers(form, await makeCertificate(await workshop.folder(), {}));
      const under = await startGateway({ live, slots: [{ id: 'a', upstream: 'simulator' }] });
      try {
        await eventually(() => under.logged.some(({ msg }) => isUnavailable(msg)), 30_000);
        const line = under.logged.find(({ msg }) => isUnavailable(msg));
        expect(line?.['reason']).to.match(/self-signed certificate/);
        await workshop.triesAgain();
        expect((await under.get('/health')).status).to.equal(200);
      } finally {
        await under.close();
      }
    });
}
