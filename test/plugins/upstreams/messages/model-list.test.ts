import { expect } from 'chai';
import type { ListedModel } from '#src/plugin/upstream/index.js';
import { Kit, rejection } from '../../../engine/transport/upstream-kit.js';

const json = { 'content-type': 'application/json' };

describe('the list of an upstream’s models', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  /** What is read of a list whose pages are these. */
  async function listed(...pages: readonly (object | string)[]): Promise<readonly ListedModel[]> {
    let at = 0;
    const url = await kit.serve((_, response) => {
      const page = pages[Math.min(at, pages.length - 1)] ?? '';
      at += 1;
      response.writeHead(200, json).end(typeof page === 'string' ? page : JSON.stringify(page));
    });
    return list(url);
  }

  async function list(url: string): Promise<readonly ListedModel[]> {
    const upstream = await kit.open(url);
    return (await upstream.models?.({ authorize: () => ({}), signal: AbortSignal.timeout(10_000) })) ?? [];
  }

  const yes = { supported: true };
  const no = { supported: false };

  it('has limits and capabilities', async () => {
    const capabilities = {
      thinking: { ...yes, types: { adaptive: no, enabled: yes, disabled: no } },
      effort: { ...yes, low: yes, high: yes, max: no, xhigh: null },
    };
    const full = { id: 'm', type: 'model', max_tokens: 64_000, max_input_tokens: 200_000, capabilities };
    const none = { id: 'n', capabilities: { thinking: no, effort: no } };
    expect(
      await listed({ data: [full, none, { id: 'bare', max_tokens: null, capabilities: null }] }),
    ).to.deep.equal([
      {
        id: 'm',
        maxTokens: 64_000,
        contextWindow: 200_000,
        thinking: 'budget',
        canStopThinking: false,
        efforts: ['low', 'high'],
      },
      { id: 'n', thinking: 'none', efforts: [] },
      { id: 'bare' },
    ]);
  });

  it('is read page by page', async () => {
    const first = { data: [{ id: 'a' }], has_more: true, last_id: 'a' };
    expect((await listed(first, { data: [{ id: 'b' }], has_more: false })).map(({ id }) => id)).to.deep.equal(
      ['a', 'b'],
    );
  });

  it('has an end, whatever the upstream says', async () => {
    const data = Array.from({ length: 1000 }, (_, at) => ({ id: `m${at}` }));
    expect(await listed({ data, has_more: true, last_id: 'x' })).to.have.length(2000);
    expect(await listed({ data: [], has_more: true, last_id: 'x' })).to.deep.equal([]);
  });

  it('leaves out what is no model and no limit', async () => {
    const data = [
      null,
      7,
      'm',
      {},
      { id: '' },
      { id: 'x'.repeat(201) },
      { id: ['a'] },
      { id: 'a', max_tokens: -1, max_input_tokens: 1.5, capabilities: [] },
      { id: 'b', max_tokens: '64000', capabilities: { thinking: 'yes', effort: 3 } },
    ];
    expect(await listed({ data })).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
  });

  for (const page of ['', '<html>', '[]', '{"data":7}', `{"data":[${' '.repeat(5_000_000)}]}`])
    it(`is none where the answer is ${page.slice(0, 20).trim() || 'empty'}`, async () => {
      expect(await rejection(listed(page))).to.include({ code: 'upstream_invalid_response' });
    });

  it('is refused in the upstream’s words', async () => {
    const url = await kit.serve((_, response) => {
      response.writeHead(401, json).end('{"error":{"type":"authentication_error","message":"no"}}');
    });
    expect(await rejection(list(url))).to.include({ status: 401, message: 'no' });
  });
});
