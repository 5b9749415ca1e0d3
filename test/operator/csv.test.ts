import { expect } from 'chai';
import { columnsOf, csvAnswer, wantsCsv } from '#src/operator/csv.js';
import { Type } from '#src/plugin/index.js';
import { Nullable } from '#src/operator/schemas.js';

async function csvOf(records: readonly object[], schema: object): Promise<string> {
  const headers: Record<string, string> = {};
  const ctx = { type: '', set: (name: string, value: string) => (headers[name] = value) } as never;
  const batches = (async function* () {
    yield records;
  })();
  let text = '';
  for await (const chunk of csvAnswer(ctx, 'x', columnsOf(schema), batches)) text += String(chunk);
  expect(headers['content-disposition']).to.equal('attachment; filename="x.csv"');
  return text;
}

describe('a table as CSV', () => {
  it('has a column for each field, those of objects too, and lists and maps as JSON', async () => {
    const schema = Type.Object({
      at: Type.String(),
      key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
      cost: Nullable(Type.Object({ billed_usd: Type.Number() })),
      tags: Type.Record(Type.String(), Type.String()),
    });
    const text = await csvOf(
      [
        { at: 'a', key: { id: 'k', name: 'Team "red", 1' }, cost: null, tags: {} },
        { at: 'b', key: null, cost: { billed_usd: 0.000000012 }, tags: { team: 'x' } },
      ],
      schema,
    );
    expect(text).to.equal(
      'at,key_id,key_name,cost_billed_usd,tags\r\n' +
        'a,k,"Team ""red"", 1",,{}\r\n' +
        'b,,,0.000000012,"{""team"":""x""}"\r\n',
    );
  });

  it('has no formula, whoever named a model', async () => {
    const schema = Type.Object({ model: Type.String() });
    for (const model of ['=1+1', '+1', '-2+3', '@SUM(A1)', '\t=1', ' =1', '\uff1dA1', '\r=1']) {
      const [, cell] = /^model\r\n"?('?)/.exec(await csvOf([{ model }], schema)) ?? [];
      expect(cell, JSON.stringify(model)).to.equal("'");
    }
    expect(await csvOf([{ model: 'a=b-c' }], schema)).to.equal('model\r\na=b-c\r\n');
  });

  it('keeps numbers as they are, negative ones too', async () => {
    const schema = Type.Object({ n: Type.Number() });
    for (const [n, cell] of [
      [-1, '-1'],
      [0, '0'],
      [1e-9, '0.000000001'],
      [1.5, '1.5'],
      [12_345_678.9, '12345678.9'],
    ] as const)
      expect(await csvOf([{ n }], schema)).to.equal(`n\r\n${cell}\r\n`);
  });

  it('is for callers that ask for it', () => {
    const accepting = (type: string) => ({ accepts: () => type }) as never;
    expect(wantsCsv(accepting('application/json'), undefined)).to.equal(false);
    expect(wantsCsv(accepting('text/csv'), undefined)).to.equal(true);
    expect(wantsCsv(accepting('text/csv'), 'json')).to.equal(false);
    expect(wantsCsv(accepting('application/json'), 'csv')).to.equal(true);
  });
});
