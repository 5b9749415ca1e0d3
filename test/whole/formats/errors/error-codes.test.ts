import { expect } from 'chai';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';

const accountKey = 'k7Qm2xV9pLw4Rt8Zb1Nc';
const diary = `the prompt "my diary" ${'is refused '.repeat(200)}`;

describe("an upstream's own error code", () => {
  let error: object;
  let status: number;
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  beforeEach(async () => {
    upstream = await scripted((_, response) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: 'No.', ...error } })),
    );
    const slot = slotAt(upstream.url, { id: 'a', account: { kind: 'api-key', key: accountKey } });
    under = await startGateway({ slots: [slot] });
    panel = new PanelClient(under.url);
  });
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  /** Codes that the caller, the ledger and the slot have, and the texts of log, metrics and ledger. */
  const codesAfter = async (sentStatus: number, sent: object) => {
    [status, error] = [sentStatus, sent];
    under.gateway.services.slots.resume('a');
    const { code } = await errorIn(await under.post('/v1/messages', ask('Hello!')));
    await under.gateway.services.ledger.flush();
    const [row] = (await panel.get('/requests?limit=1')).data;
    const report = await panel.get(`/requests/${row.id}`);
    const [slot] = (await panel.get('/slots')).data;
    const [change] = (await panel.get('/slots/a/history')).data;
    const metrics = await under.gateway.services.metrics.text();
    return {
      codes: {
        code,
        row: row.code,
        call: report.calls.at(-1).code,
        slot: slot.cooling_models[0]?.cause.code,
      },
      texts: JSON.stringify([under.logged, metrics, report, slot, change]),
    };
  };

  it('is stored and shown where it is an identifier', async () => {
    const { codes } = await codesAfter(529, { type: 'overloaded_error', code: 'Throttled.2' });
    const own = 'Throttled.2';
    expect(codes).to.deep.equal({ code: own, row: own, call: own, slot: own });
  });

  it('gives way to its type, or that of the status, where it is a text', async () => {
    for (const [type, code] of [
      ['some_error', 'some_error'],
      ['Some Error', 'overloaded_error'],
    ] as const) {
      const { codes, texts } = await codesAfter(529, { type, code: diary });
      expect(codes).to.deep.equal({ code, row: code, call: code, slot: code });
      expect(texts).to.not.include('diary');
    }
  });

  it('is in no store, log line, metric or slot where it is a credential', async () => {
    for (const sent of [400, 500, 529])
      for (const code of [accountKey, 'sk-ant-api03-AnotherOne123456']) {
        const { codes, texts } = await codesAfter(sent, { type: 'api_error', code });
        expect([codes.row, codes.call]).to.deep.equal(['other', 'other']);
        expect(codes.slot).to.equal(sent === 529 ? 'other' : undefined);
        expect(texts, `${sent}`).to.not.include(code);
      }
  });
});
