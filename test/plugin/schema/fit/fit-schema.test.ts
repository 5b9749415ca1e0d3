import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { fitSchema } from '#src/plugin/schema/fit/fit-schema.js';
import { withKeys } from '#src/plugin/schema/fit/root-keys.js';
import { strictSchemaProblem } from '#plugins/upstreams/simulator/rules/schema-rules.js';
import { rootSchemas } from './schema-values.js';
import { anthropicProblems, openAiProblems, openAiStrictProblems, type Schema } from './vendor-rules.js';

const runs = { numRuns: 40 };

describe('fitSchema, for any schema,', () => {
  const dialects = ['openai', 'anthropic', 'grammar', 'grammar-minimal'] as const;

  for (const dialect of dialects) {
    it(`gives ${dialect} what it takes, for each value that fitted`, () => {
      const problemsOf = dialect === 'anthropic' ? anthropicProblems : openAiProblems;
      fc.assert(
        fc.property(rootSchemas, ({ schema, meant, value }) => {
          const fitted = fitSchema(schema, dialect);
          expect(problemsOf(fitted.schema)).to.deep.equal([]);
          fc.pre(fits(meant, value));
          const sent = withKeys(Object(value) as Schema, fitted.keys);
          expect(fits(fitted.schema, sent), JSON.stringify(fitted.schema)).to.equal(true);
        }),
        runs,
      );
    });
  }

  for (const use of ['tool', 'output'] as const)
    it(`closes it for Anthropic as ${use === 'tool' ? 'a tool' : 'an answer'}, for each value that fitted`, () => {
      fc.assert(
        fc.property(rootSchemas, ({ schema, meant, value }) => {
          const fitted = fitSchema(schema, 'anthropic-strict', use);
          expect(strictSchemaProblem(fitted.schema), JSON.stringify(fitted.schema)).to.equal(undefined);
          if (use === 'tool') expect(anthropicProblems(fitted.schema)).to.deep.equal([]);
          fc.pre(fitted.isExpressible && fits(meant, value));
          const sent = withKeys(Object(value) as Schema, fitted.keys);
          expect(fits(fitted.schema, sent), JSON.stringify(fitted.schema)).to.equal(true);
        }),
        runs,
      );
    });

  it('is strict at OpenAI only where every key is required, every object closed, and nothing else changed', () => {
    fc.assert(
      fc.property(rootSchemas, ({ schema }) => {
        const fitted = fitSchema(schema, 'openai-strict');
        expect(fitted.schema).to.deep.equal(fitSchema(schema, 'openai').schema);
        if (fitted.isExpressible) expect(openAiStrictProblems(fitted.schema)).to.deep.equal([]);
      }),
      runs,
    );
  });

  it('returns the schema itself where the receiver takes it', () => {
    const all = [...dialects, 'openai-strict', 'anthropic-strict'] as const;
    fc.assert(
      fc.property(rootSchemas, fc.constantFrom(...all), ({ schema }, dialect) => {
        const { schema: sent, isExpressible } = fitSchema(schema, dialect);
        fc.pre(isExpressible);
        expect(fitSchema(sent, dialect)).to.deep.include({ changes: [], keepsMeaning: true });
        expect(fitSchema(sent, dialect).schema).to.equal(sent);
      }),
      runs,
    );
  });

  it('changes nothing of the given one', () => {
    fc.assert(
      fc.property(rootSchemas, ({ schema }) => {
        const before = JSON.stringify(schema);
        for (const dialect of ['openai', 'anthropic', 'anthropic-strict', 'grammar'] as const) {
          fitSchema(schema, dialect);
          expect(JSON.stringify(schema)).to.equal(before);
        }
      }),
      { numRuns: 40 },
    );
  });
});

const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  logger: false,
  validateSchema: false,
  code: { optimize: false },
});

function fits(schema: Schema, value: unknown): boolean {
  return ajv.compile(structuredClone(schema))(value);
}
