import { expect } from 'chai';
import * as fc from 'fast-check';
import { Kit } from '../../../engine/transport/upstream-kit.js';
import { recordedRequests } from '../../../plugins/formats/contexts.js';
import { dialects } from '../dialects.js';
import { masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { mutatedJson, mutations } from './mutations.js';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);
const scale = Number(process.env['FUZZ_SCALE'] ?? 1);

/** Slots of the kinds that translate or edit Messages requests. */
const kinds: Readonly<Record<string, object>> = {
  messages: {},
  chat: { with: { preset: 'openrouter' } },
  responses: {},
  bedrock: { with: { region: 'us-east-1' } },
  vertex: { with: { project: 'p', region: 'global' } },
};

const bodies: readonly unknown[] = [
  dialects.messages.request('Hi'),
  ...(recordedRequests('messages-requests') ?? new Map<string, unknown>()).values(),
];

/** Tests with this share of the usual number of runs. */
export function describeUpstreamFuzz(share: number): void {
  describe('a Messages request of odd shapes', function () {
    this.timeout(30_000 * scale);
    const kit = new Kit();
    let under: GatewayUnderTest | undefined;
    afterEach(async () => {
      await under?.close();
      await kit.close();
    });

    for (const [upstream, settings] of Object.entries(kinds))
      it(`is refused by what is wrong with it, or by an upstream of kind ${upstream}`, async () => {
        const url = await kit.serve((request, response) => {
          request.resume().once('end', () => {
            response.writeHead(422, { 'content-type': 'application/json' });
            response.end('{"error":{"type":"invalid_request_error","message":"of the upstream"}}');
          });
        });
        under = await startGateway({ slots: [slotAt(url, { upstream, ...settings })] });
        const { url: gateway, logged } = under;
        const property = fc.asyncProperty(fc.constantFrom(...bodies), mutations, async (body, changes) => {
          const response = await fetch(`${gateway}/v1/messages`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
            body: mutatedJson(body, changes),
          });
          expect(response.status, await response.text()).to.be.oneOf([400, 404, 413, 422]);
        });
        await fc.assert(property, { seed, numRuns: Math.ceil(150 * scale * share) });
        expect(logged.filter(({ msg }) => msg === 'The gateway failed.')).to.deep.equal([]);
      });
  });
}
