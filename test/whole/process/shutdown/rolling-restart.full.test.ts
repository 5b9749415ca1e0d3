import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { ComposeNginx, readCompose } from './compose-nginx.js';
import { freePort } from '../../free-port.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';

const program = process.env['GW_TEST_NGINX'];
const key = 'the-master-key';

/** What a call came to: `200`, another status with its body, or how it broke off. */
type Outcome = string;

describe('a rolling restart behind the nginx of compose.yaml', function () {
  this.timeout(120_000);
  const workshop = new ProcessWorkshop();
  let nginx: ComposeNginx | undefined;
  let url = '';
  let ports: readonly number[] = [];
  let environment: Readonly<Record<string, string>> = {};

  before(async function () {
    if (!program) return this.skip();
    environment = (await readCompose())['x-gateway'].environment;
  });
  afterEach(async () => {
    await nginx?.end();
    await workshop.end();
  });

  /** A gateway by the config that ships, with what compose says about the end of one. */
  async function startGateway(port: number): Promise<GatewayProcess> {
    const { GW_DRAIN_DELAY = '' } = environment;
    const own = { GW2API_API_KEY: key, GW_STORE: 'memory', GW_DRAIN_DELAY, PORT: String(port) };
    const gateway = await workshop.start({
      args: ['--config', path.resolve('config/gateway.yaml')],
      env: own,
    });
    await gateway.url();
    return gateway;
  }

  it('fails no request and breaks no stream', async () => {
    ports = [await freePort(), await freePort()];
    const port = await freePort();
    const gateways = await Promise.all(ports.map(startGateway));
    const folder = await workshop.folder();
    nginx = await ComposeNginx.start(program!, { folder, port, inside: await freePort(), ports });
    url = `http://127.0.0.1:${port}`;

    const load = new Load(url);
    const longStreams = Array.from({ length: 4 }, () => send(url, undefined, slowStream));
    for (const [at, gateway] of gateways.entries()) {
      await load.more(40);
      gateway.signal('SIGTERM');
      expect((await gateway.ended).code).to.equal(0);
      await load.more(40);
      await startGateway(ports[at]!);
    }
    await load.more(40);
    const outcomes = [...(await load.end()), ...(await Promise.all(longStreams))];
    expect(countOf(outcomes), nginx.stderr.slice(0, 2000)).to.deep.equal({ 200: outcomes.length });
    expect(outcomes.length).to.be.at.least(200);
  });
});

function countOf(outcomes: readonly Outcome[]): Readonly<Record<Outcome, number>> {
  const counts: Record<Outcome, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Callers with kept connections, each with one request after the other, of which each third is a stream. */
class Load {
  readonly #outcomes: Outcome[] = [];
  readonly #callers: readonly Promise<void>[];
  readonly #agent = new Agent({ keepAlive: true });
  #isOver = false;

  constructor(url: string) {
    this.#callers = Array.from({ length: 6 }, () => this.#call(url));
  }

  /** Resolves when so many more have been answered. */
  async more(count: number): Promise<void> {
    const goal = this.#outcomes.length + count;
    await eventually(() => this.#outcomes.length >= goal, 60_000);
  }

  async end(): Promise<readonly Outcome[]> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    this.#agent.destroy();
    return this.#outcomes;
  }

  async #call(url: string): Promise<void> {
    while (!this.#isOver) {
      const stream = this.#outcomes.length % 3 === 0;
      this.#outcomes.push(await send(url, this.#agent, { text: '[[sim:slow ms=40]] Hi', stream }));
    }
  }
}

/** One that outlasts the drain delay. */
const slowStream = { text: '[[sim:tokens n=64]][[sim:slow ms=150]]', stream: true };

async function send(
  url: string,
  agent: Agent | undefined,
  { text, stream }: { text: string; stream: boolean },
): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const sent = request(`${url}/v1/messages`, { method: 'POST', headers, agent: agent ?? false });
  const messages = [{ role: 'user', content: text }];
  sent.end(JSON.stringify({ model: 'sonnet-5', max_tokens: 1000, messages, stream }));
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response) body += String(chunk);
    if (response.statusCode !== 200) return `${response.statusCode} ${body}`;
    return !stream || body.includes('message_stop') ? '200' : `a stream without its end: ${body.slice(-300)}`;
  } catch (error) {
    return String(error);
  }
}
