import { expect } from 'chai';
import { formatContext } from '#src/plugin/index.js';
import { requestBytes } from '#src/plugin/raw/index.js';
import type { FormatContext } from '#src/plugin/format/index.js';
import type { PluginStore } from '#src/plugin/contract/store.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { StoredItems } from '#plugins/formats/responses/stored/stored-items.js';
import { formats } from '../../../support/formats.js';
import { refusal } from '../refusals.js';

const { responses } = formats;
const expiresAtMs = 2 ** 45;

/** Counts the reads of a store, by the id that is read. */
function counted({ responses: stored }: PluginStore): readonly string[] {
  const reads: string[] = [];
  const get = stored.get.bind(stored);
  const getResponse = stored.getResponse.bind(stored);
  Object.assign(stored, {
    get: (owner: string, id: string) => (reads.push(id), get(owner, id)),
    getResponse: (owner: string, id: string) => (reads.push(id), getResponse(owner, id)),
  });
  return reads;
}

/** A context with stored responses of one message each, of so many characters. */
async function contextOf(sizes: Readonly<Record<string, number>>, limit: number): Promise<FormatContext> {
  const host = fakeHost();
  host.announce({ max_body_bytes: limit });
  const caller = { kind: 'key', keyId: 'k1', name: 'test' } as const;
  const state = { format: 'responses', caller, log: host.log };
  const context = formatContext(host, { state, headers: {}, path: '/', querystring: '' });
  for (const [name, size] of Object.entries(sizes)) {
    const text = '\u0001'.repeat(size);
    const message = { id: `msg_${name}_0`, type: 'message', role: 'assistant', content: text };
    const response = { id: `resp_${name}`, output: [message] };
    const input = [{ role: 'user', content: 'Hi' }];
    await context.store.responses.put({ id: `resp_${name}`, owner: 'k1', input, response, expiresAtMs });
  }
  return context;
}

function references(count: number, ...names: readonly string[]): readonly object[] {
  const named = Array.from({ length: count }, (_, at) => names[at % names.length]);
  return named.map((name) => ({ type: 'item_reference', id: `msg_${name}_0` }));
}

function decode(body: object, context: FormatContext) {
  return responses.decode({ model: 'm', ...body }, context);
}

describe('stored items that a request names', () => {
  it('are refused where they make it larger than a body may be, with the field that did', async () => {
    const context = await contextOf({ a: 100 }, 10_000);
    const input = references(200, 'a');
    expect(await refusal(() => decode({ input }, context))).to.match(
      /^input\[15\]: makes the request, with the stored items it names, larger than the maximum of 10000 bytes$/,
    );
    const fitting = await decode({ input: input.slice(0, 15) }, context);
    expect(requestBytes(fitting.request).length).to.be.within(5000, 10_000);
  });

  it('count beside the rest of the input, and so does the response before', async () => {
    const context = await contextOf({ a: 100 }, 10_000);
    const long = { role: 'user', content: 'x'.repeat(9000) };
    expect(await refusal(() => decode({ input: [...references(2, 'a'), long] }, context))).to.match(
      /^input\[1\]: makes the request, with the stored items it names, larger/,
    );
    const body = { previous_response_id: 'resp_a', input: [long, { ...long, content: 'x'.repeat(500) }] };
    expect(await refusal(() => decode(body, context))).to.match(/^previous_response_id: makes the request/);
    await decode({ previous_response_id: 'resp_a', input: 'More' }, context);
  });

  it('are refused where the responses that hold them are together larger than a body may be', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const context = await contextOf(Object.fromEntries(names.map((name) => [name, 1])), 10_000);
    const tools = [{ type: 'function', name: 'look', description: 'x'.repeat(3000) }];
    for (const name of names) {
      const stored = await context.store.responses.get('k1', `resp_${name}`);
      await context.store.responses.put({ ...stored!, response: { ...stored!.response, tools } });
    }
    const reads = counted(context.store);
    await decode({ input: references(3, ...names) }, context);
    expect(await refusal(() => decode({ input: references(4, ...names) }, context))).to.match(
      /^input\[3\]: makes the request, with the stored items it names, larger/,
    );
    expect(reads).to.have.length(7);
  });

  it('are read once for each response, however often they are named, for decoding and encoding', async () => {
    const context = await contextOf({ a: 1, b: 1 }, 1e6);
    const reads = counted(context.store);
    const input = references(100, 'a', 'b', 'a');
    const body = { model: 'm', previous_response_id: 'resp_a', input };
    await responses.decode(body, context);
    await responses.encoder(body, context);
    expect(reads).to.deep.equal(['resp_a', 'resp_b']);
  });

  it('are not read beyond the size of a body, whatever the ids are', async () => {
    const context = await contextOf({ a: 100, b: 2000, c: 100 }, 10_000);
    const reads = counted(context.store);
    expect(await refusal(() => decode({ input: references(3, 'a', 'b', 'c') }, context))).to.match(
      /^input\[1\]: makes the request, with the stored items it names, larger/,
    );
    expect(reads).to.deep.equal(['resp_a', 'resp_b']);
  });

  it('are measured once each, those of the response before too', async () => {
    const context = await contextOf({}, 1e6);
    let measured = 0;
    const toJSON = () => ({ size: (measured += 1) });
    const item = { type: 'message', role: 'user', content: 'Hi', toJSON };
    const items = new StoredItems(context, { input: [item, item], response: { output: [item] } });
    expect(await items.inputAndOutput('resp_a')).to.have.length(3);
    expect(measured).to.equal(3);
  });

  it('are read again for another caller, whose body looks the same', async () => {
    const context = await contextOf({ a: 1 }, 1e6);
    const body = { model: 'm', input: references(1, 'a') };
    await responses.decode(body, context);
    const other: FormatContext = {
      ...context,
      findModel: () => undefined,
      maxBodyBytes: 1e6,
      caller: { ...context.caller, keyId: 'k2' },
    };
    const error = await Promise.resolve(responses.decode(body, other)).catch((error: unknown) => error);
    expect(error).to.include({ code: 'not_found' });
  });

  it('may be items of an input, by the ids that they are listed under', async () => {
    const context = await contextOf({ a: 1 }, 1e6);
    const { request } = await decode({ input: [{ type: 'item_reference', id: 'msg_a_in0' }] }, context);
    expect(request.messages).to.deep.equal([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
  });
});
