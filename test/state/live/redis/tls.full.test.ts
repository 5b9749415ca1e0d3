import { makeCertificate } from '../certificates.js';
import { redisProgram, RedisProcess } from '../redis-process.js';
import {
  dropClients,
  endsInOrder,
  exchange,
  forms,
  secured,
  startSentinel,
  TlsWorkshop,
  watchedBy,
} from './tls.js';

describe('a Redis server with TLS', () => {
  if (redisProgram === undefined) it('is tested where GW_TEST_REDIS_SERVER names the program');
  else describeChanges();
});

function describeChanges(): void {
  let workshop: TlsWorkshop;
  let folder: string;
  beforeEach(async () => {
    workshop = new TlsWorkshop();
    folder = await workshop.folder();
  });
  afterEach(() => workshop.end());

  for (const form of forms.filter((each) => !each.form.includes('sentinel')))
    it(`may change the certificate of ${form.form}: gateways go on alone, and join when it is trusted again`, async () => {
      const trusted = await makeCertificate(folder);
      const other = await makeCertificate(folder, { names: 'IP:127.0.0.1,DNS:other' });
      const live = await workshop.startServers(form, trusted);
      const gateway = await workshop.startGateway(live, trusted);
      await gateway.line(({ msg }) => /is joined/.test(msg));
      await exchange(workshop.server, other);
      await workshop.goesOnAlone(gateway);
      await exchange(workshop.server, trusted);
      await gateway.line(({ msg }) => /answers again/.test(msg));
      await endsInOrder(gateway);
    });

  it('may change the certificate of the sentinels, who come with it anew', async () => {
    const trusted = await makeCertificate(folder);
    const other = await makeCertificate(folder, { names: 'IP:127.0.0.1,DNS:other' });
    const master = await RedisProcess.start(secured(trusted));
    workshop.others = [master];
    workshop.server = await startSentinel(trusted, master.port);
    const gateway = await workshop.startGateway(watchedBy(workshop.server.port), trusted);
    await gateway.line(({ msg }) => /is joined/.test(msg));
    const { port } = workshop.server;
    await workshop.server.end();
    workshop.server = await startSentinel(other, master.port, port);
    await dropClients(master);
    await workshop.goesOnAlone(gateway);
    await workshop.server.end();
    workshop.server = await startSentinel(trusted, master.port, port);
    await gateway.line(({ msg }) => /answers again/.test(msg));
    await endsInOrder(gateway);
  });
}
