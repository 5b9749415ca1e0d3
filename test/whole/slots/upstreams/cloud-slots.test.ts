import { expect } from 'chai';
import { serviceAccountKey } from '../../../engine/slots/service-account.js';
import { TokenEndpoint } from '../../../engine/slots/token-endpoint.js';
import { Kit } from '../../../engine/transport/upstream-kit.js';
import { ask, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startRecorder, type Recorded } from './recorder.js';

const invoke = '/v1alpha/projects/test-project/locations/global/workspaces/test-workspace/invoke';

describe('a slot of the Claude Platform on Google Cloud', () => {
  const kit = new Kit();
  let tokens: TokenEndpoint;
  let recorder: { readonly url: string; readonly requests: Recorded[] };
  let gateway: GatewayUnderTest;
  before(async () => {
    tokens = await TokenEndpoint.open();
    recorder = await startRecorder(kit);
    const account = { kind: 'google', key: serviceAccountKey(tokens.url) };
    const slot = { id: 'a', upstream: 'messages', baseUrl: recorder.url + invoke, account };
    gateway = await startGateway({ slots: [slot] });
  });
  after(async () => {
    await gateway.close();
    await kit.close();
    await tokens.close();
  });
  beforeEach(() => {
    recorder.requests.length = 0;
  });

  it('adds the paths of the Messages API to its base URL, and a token of Google', async () => {
    const response = await gateway.post('/v1/messages', ask('Hello!', { stream: true }));
    expect(await response.text()).to.include('message_stop');
    const [sent] = recorder.requests;
    expect(sent!.url).to.equal(`${invoke}/v1/messages`);
    expect(sent!.headers).to.include({
      authorization: 'Bearer access-1',
      'anthropic-version': '2023-06-01',
    });
    expect(sent!.headers).to.not.have.property('x-api-key');
    expect(sent!.body).to.include({ model: 'sonnet-5', stream: true });
  });

  it('answers a token count with that of its upstream, and has no usage windows', async () => {
    const { max_tokens: _, ...counted } = ask('Hello!') as Record<string, unknown>;
    const response = await gateway.post('/v1/messages/count_tokens', counted);
    expect(await response.json()).to.deep.equal({ input_tokens: 7 });
    expect(recorder.requests.map(({ url }) => url)).to.include(`${invoke}/v1/messages/count_tokens`);
    expect((await gateway.get('/v1/usage')).status).to.equal(404);
  });
});
