import { expect } from 'chai';
import {
  startBedrock,
  type BedrockAnswer,
  type BedrockRequest,
  type BedrockServer,
} from '../../../support/bedrock-server.js';
import { ask, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn, stateOf } from '../../kit.js';

const account = { kind: 'aws-sigv4', region: 'us-east-1', accessKeyId: 'AKID', secretAccessKey: 'secret' };
const hourMs = 3_600_000;

describe('an account that signs for AWS', () => {
  let bedrock: BedrockServer;
  let gateway: GatewayUnderTest;

  beforeEach(async () => {
    bedrock = await startBedrock();
  });
  afterEach(async () => {
    await gateway.close();
    await bedrock.close();
  });

  async function startOver(slot: object = {}): Promise<void> {
    const entry = { id: 'aws', upstream: 'bedrock', baseUrl: bedrock.url, account, ...slot };
    gateway = await startGateway({ pipeline: stages({ without: ['usage-mask'] }), slots: [entry] });
  }

  it('signs again with the time of AWS where the clock of the machine is wrong, and stays with that', async () => {
    bedrock.intercept = (request) => refusedUnless(isAt(request, Date.now() + hourMs), Date.now() + hourMs);
    await startOver();
    expect((await gateway.post('/v1/messages', ask('hi'))).status).to.equal(200);
    expect(bedrock.requests).to.have.length(2);
    expect((await gateway.post('/v1/messages', ask('again'))).status).to.equal(200);
    expect(bedrock.requests).to.have.length(3);
    const warnings = gateway.logged.filter(({ msg }) => String(msg).startsWith('The clock of this machine'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ level: 'warn', slot: 'aws' });
    expect(stateOf(gateway, 'aws')).to.equal('ready');
  });

  it('does so for Messages on Mantle, too, whose refusal is a 403', async () => {
    bedrock.intercept = (request) =>
      refusedUnless(isAt(request, Date.now() - hourMs), Date.now() - hourMs) ?? {
        status: 200,
        body: wholeMessage,
      };
    await startOver({
      upstream: 'messages',
      baseUrl: `${bedrock.url}/anthropic`,
      account: { ...account, service: 'bedrock-mantle' },
    });
    const response = await gateway.post('/v1/messages', ask('hi'));
    expect(response.status).to.equal(200);
    expect(bedrock.requests.map(({ path }) => path)).to.deep.equal([
      '/anthropic/v1/messages',
      '/anthropic/v1/messages',
    ]);
  });

  it('is rejected where its signature is wrong at the right time, and not tried again', async () => {
    bedrock.intercept = () => refusedUnless(false, Date.now());
    await startOver({ upstream: 'messages' });
    const error = await errorIn(await gateway.post('/v1/messages', ask('hi')));
    expect(error).to.include({ status: 503, code: 'no_slot_available' });
    expect(bedrock.requests).to.have.length(1);
    expect(stateOf(gateway, 'aws')).to.equal('rejected');
  });

  it('leaves a slot alone that has no right to a model', async () => {
    bedrock.intercept = () => ({
      status: 403,
      headers: { 'x-amzn-errortype': 'AccessDeniedException' },
      body: '{}',
    });
    await startOver({ upstream: 'messages' });
    expect((await errorIn(await gateway.post('/v1/messages', ask('hi')))).status).to.equal(403);
    expect(stateOf(gateway, 'aws')).to.equal('ready');
  });

  it('is diagnosed by a request that costs nothing', async () => {
    await startOver();
    bedrock.intercept = () => ({
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException' },
      body: '{}',
    });
    expect(await diagnosed()).to.deep.include({ step: 'credential', ok: true, detail: 'accepted' });
    expect(bedrock.requests.map(({ path }) => path).at(-1)).to.equal('/model/anthropic.claude/count-tokens');
    bedrock.intercept = () => refusedUnless(false, Date.now());
    expect(await diagnosed()).to.deep.include({
      step: 'credential',
      ok: false,
      detail: 'Signature expired.',
    });
  });

  it('comes back by that request once it is accepted again', async () => {
    await startOver();
    bedrock.intercept = () => refusedUnless(false, Date.now());
    await gateway.post('/v1/messages', ask('hi'));
    const slot = gateway.gateway.services.slots.opened[0]!;
    const call = { signal: new AbortController().signal } as Parameters<typeof slot.isAccepted>[0];
    expect(await slot.isAccepted(call).catch(() => 'refused')).to.equal('refused');
    bedrock.intercept = () => ({
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException' },
      body: '{}',
    });
    expect(await slot.isAccepted(call)).to.equal(true);
  });

  async function diagnosed(): Promise<object | undefined> {
    const steps = await gateway.gateway.services.slots.diagnose('aws', AbortSignal.timeout(5000));
    const { ms: _, ...last } = Object(steps.at(-1)) as { ms: number };
    return last;
  }
});

const wholeMessage = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});

/** The refusal of a service whose clock says `atMs`; nothing for a signature that it accepts. */
function refusedUnless(isSigned: boolean, atMs: number): BedrockAnswer | undefined {
  if (isSigned) return undefined;
  const headers = {
    'x-amzn-errortype': 'InvalidSignatureException:http://x',
    date: new Date(atMs).toUTCString(),
  };
  return { status: 403, headers, body: '{"message":"Signature expired."}' };
}

function isAt({ headers }: BedrockRequest, atMs: number): boolean {
  const text = String(headers['x-amz-date']).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Math.abs(Date.parse(text) - atMs) < 300_000;
}
