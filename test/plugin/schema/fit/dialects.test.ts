import { expect } from 'chai';
import { fitSchema, type SchemaDialect } from '#src/plugin/schema/fit/fit-schema.js';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const object = (properties: Schema, more: object = {}): Schema => ({ type: 'object', properties, ...more });
const closed = (properties: Schema, more: object = {}): Schema =>
  object(properties, { additionalProperties: false, ...more });

describe('fitSchema', () => {
  describe('for a receiver of draft 2020-12', () => {
    const earlier = object({
      unset: { type: 'string', enum: null, description: null, default: null, nullable: null },
      tuple: { type: 'array', items: [text, text], additionalItems: false },
      open: { type: 'array', items: [], additionalItems: text },
      above: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      twice: object({ a: text }, { required: ['a', 'a'] }),
    });
    const current = object({
      unset: { type: 'string', default: null, nullable: null },
      tuple: { type: 'array', prefixItems: [text, text], items: false },
      open: { type: 'array', items: text },
      above: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
      twice: object({ a: text }, { required: ['a'] }),
    });

    for (const dialect of ['openai', 'anthropic', 'grammar'] as const)
      it(`says what earlier drafts, and records without a value, mean: ${dialect}`, () => {
        const { schema, changes, keepsMeaning } = fitSchema({ ...earlier, required: null }, dialect);
        expect(schema).to.deep.equal(current);
        expect(changes).to.include.members(['enum', 'items', 'exclusiveMinimum', 'required']);
        expect(keepsMeaning).to.equal(true);
      });

    it('reports a required of one property, which was another thing than a list', () => {
      const { schema, keepsMeaning } = fitSchema(object({ a: { ...text, required: true } }), 'anthropic');
      expect(schema).to.deep.equal(object({ a: text }));
      expect(keepsMeaning).to.equal(false);
    });

    it('leaves values and examples as they are', () => {
      const schema = object({ a: { const: null, default: { items: [] }, examples: [{ required: null }] } });
      for (const dialect of ['openai', 'anthropic', 'grammar'] as const)
        expect(fitSchema(schema, dialect).schema).to.equal(schema);
    });
  });

  describe('for functions of OpenAI', () => {
    it('gives each array items, at any depth and of several types', () => {
      const schema = object({ a: { type: 'array' }, b: { anyOf: [{ type: ['array', 'null'] }] } });
      expect(fitSchema(schema, 'openai')).to.deep.include({
        schema: object({
          a: { type: 'array', items: {} },
          b: { anyOf: [{ type: ['array', 'null'], items: {} }] },
        }),
        changes: ['items'],
        keepsMeaning: true,
      });
    });

    it('gives the root its type and properties', () => {
      expect(fitSchema({}, 'openai').schema).to.deep.equal({ type: 'object', properties: {} });
      expect(fitSchema({ type: ['object', 'null'] }, 'openai').schema).to.deep.equal(object({}));
    });

    it('inlines what the root refers to, however often', () => {
      const $defs = { a: { $ref: '#/$defs/b' }, b: object({ x: { $ref: '#/$defs/b' } }) };
      const { schema, keepsMeaning } = fitSchema({ $ref: '#/$defs/a', $defs }, 'openai');
      expect(schema).to.deep.equal({ $defs, ...object({ x: { $ref: '#/$defs/b' } }) });
      expect(keepsMeaning).to.equal(true);
    });

    it('puts the rules of the root and references to nothing into words', () => {
      const not = { required: ['a', 'b'] };
      const schema = object({ a: text, b: { $ref: '#/$defs/none' } }, { not, description: 'Picks.' });
      expect(fitSchema(schema, 'openai')).to.deep.include({
        schema: object(
          { a: text, b: { description: '{$ref: "#/$defs/none"}' } },
          { description: 'Picks.\n\n{not: {"required":["a","b"]}}' },
        ),
        changes: ['not', '$ref'],
        keepsMeaning: false,
      });
      for (const $ref of ['#', 'https://a.example/schema', '#/%', 5])
        expect(fitSchema({ $ref }, 'openai').schema)
          .to.include({ type: 'object' })
          .and.not.have.property('$ref');
    });

    it('leaves the answer’s root as it is', () => {
      const schema = { anyOf: [object({ a: { type: 'array' } }), { type: 'null' }] };
      const { schema: sent } = fitSchema(schema, 'openai', 'output');
      expect(sent).to.deep.equal({ anyOf: [object({ a: { type: 'array', items: {} } }), { type: 'null' }] });
    });
  });

  describe('for a root with branches', () => {
    for (const dialect of ['openai', 'anthropic'] as const) {
      it(`tells those of required alone in words: ${dialect}`, () => {
        const anyOf = [{ required: ['a'] }, { required: ['b'] }];
        expect(fitSchema(object({ a: text, b: text }, { anyOf }), dialect).schema).to.deep.equal(
          object({ a: text, b: text }, { description: '{anyOf: [{"required":["a"]},{"required":["b"]}]}' }),
        );
      });

      it(`merges those with properties, optional where not all require one: ${dialect}`, () => {
        const oneOf = [
          object({ kind: { const: 'a' }, x: text }, { required: ['kind', 'x'] }),
          object({ kind: { const: 'b' }, y: text }, { required: ['kind'] }),
        ];
        const { schema } = fitSchema({ type: 'object', oneOf }, dialect);
        expect(schema).to.deep.include({
          properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, x: text, y: text },
          required: ['kind'],
        });
        expect(schema['description']).to.include('"const":{"kind":"a"}');
      });

      it(`merges allOf without a loss, through references: ${dialect}`, () => {
        const $defs = { a: object({ x: text }, { required: ['x'] }) };
        const schema = { allOf: [{ $ref: '#/$defs/a' }, object({ y: text })], $defs };
        expect(fitSchema(schema, dialect).schema).to.deep.include({
          ...object({ x: text, y: text }, { required: ['x'] }),
        });
        expect(
          fitSchema({ allOf: [object({ x: text }), object({ y: text })] }, dialect).keepsMeaning,
        ).to.equal(true);
      });
    }
  });

  describe('for strict functions of OpenAI', () => {
    const strict = (schema: Schema) => fitSchema(schema, 'openai-strict').isExpressible;
    it('holds the model to what is in the subset', () => {
      expect(
        strict(closed({ a: text, b: { anyOf: [text, { type: 'null' }] } }, { required: ['b', 'a'] })),
      ).to.equal(true);
      const $defs = { a: closed({ next: { $ref: '#/$defs/a' } }, { required: ['next'] }) };
      expect(strict({ $ref: '#/$defs/a', $defs })).to.equal(true);
    });

    const beyond: Readonly<Record<string, Schema>> = {
      'an optional property': closed({ a: text }),
      'an open object': object({ a: text }, { required: ['a'] }),
      'a property that is not there': closed({}, { required: ['a'] }),
      'a node without type': closed({ a: { enum: ['x'] } }, { required: ['a'] }),
      'a default': closed({ a: { ...text, default: 'x' } }, { required: ['a'] }),
      'a format': closed({ a: { ...text, format: 'uri' } }, { required: ['a'] }),
      'a lookahead': closed({ a: { ...text, pattern: '(?=a)' } }, { required: ['a'] }),
      oneOf: closed({ a: { oneOf: [text] } }, { required: ['a'] }),
      'a word beside a reference': closed({ a: { $ref: '#', type: 'object' } }, { required: ['a'] }),
      'the schema true': closed({ a: true }, { required: ['a'] }),
    };
    for (const [what, schema] of Object.entries(beyond))
      it(`does not at ${what}`, () => expect(strict(schema)).to.equal(false));
  });

  describe('for Anthropic, strict', () => {
    const fit = (schema: Schema, use: 'tool' | 'output' = 'output') =>
      fitSchema(schema, 'anthropic-strict', use);

    it('takes $schema, a type beside enum, patterns and defaults as they are', () => {
      const schema = closed(
        { a: { type: 'string', enum: ['x'], default: 'x' }, b: { ...text, pattern: '^b', examples: ['b'] } },
        { $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['a'] },
      );
      expect(fit(schema).schema).to.equal(schema);
      expect(fit(schema, 'tool').schema).to.equal(schema);
    });

    it('reports what it does not say of a value', () => {
      const { changes, isExpressible } = fitSchema(object({ a: { enum: [{ b: 1 }] } }), 'anthropic-strict');
      expect([changes.includes('enum'), isExpressible]).to.deep.equal([true, false]);
    });

    it('moves what stands beside branches into each of them', () => {
      const schema = object(
        { id: text },
        { required: ['id'], anyOf: [object({ x: text }), { required: ['y'], properties: { y: text } }] },
      );
      expect(fit(schema)).to.deep.include({
        schema: {
          anyOf: [
            closed({ x: text, id: text }, { required: ['id'] }),
            closed({ y: text, id: text }, { required: ['y', 'id'] }),
          ],
        },
        isExpressible: true,
      });
    });

    it('closes each branch beside an object without properties', () => {
      const oneOf = [object({ x: text }, { required: ['x'] }), object({ y: text })];
      expect(fit({ type: 'object', oneOf }).schema).to.deep.equal({
        anyOf: [closed({ x: text }, { required: ['x'] }), closed({ y: text })],
      });
    });

    it('merges an allOf of objects', () => {
      const $defs = { a: object({ x: text }, { required: ['x'] }) };
      const schema = object({}, { allOf: [{ $ref: '#/$defs/a' }, object({ y: text })], $defs });
      const { schema: sent, isExpressible } = fit(schema);
      expect(sent).to.deep.include(closed({ x: text, y: text }, { required: ['x'] }));
      expect(isExpressible).to.equal(true);
    });

    it('is not the form of any object, nor of keys that are refused', () => {
      expect(fit({ type: 'object' }).isExpressible).to.equal(false);
      expect(fit({ type: 'object' }, 'tool').isExpressible).to.equal(true);
      expect(fit(closed({ $top: text })).isExpressible).to.equal(false);
      expect(fit(object({}, { required: ['a'] })).isExpressible).to.equal(false);
    });

    it('takes no more than a schema’s size and a bound, whatever it refers to', () => {
      const $defs: Record<string, Schema> = {};
      for (let at = 0; at < 40; at += 1) {
        const next = { $ref: `#/$defs/d${at + 1}`, type: 'object', properties: {} };
        $defs[`d${at}`] = object({ a: next, b: { ...next } });
      }
      $defs['d40'] = object({ end: text });
      const { schema, isExpressible } = fit({ $ref: '#/$defs/d0', $defs, type: 'object', properties: {} });
      expect(isExpressible).to.equal(false);
      expect(JSON.stringify(schema).length).to.be.below(10_000_000);
    });
  });

  describe('for a grammar', () => {
    it('leaves out patterns, negations and bounds of 2,000 repetitions, and nothing smaller', () => {
      const schema = object({
        script: { ...text, maxLength: 524_288, minLength: 1999 },
        run: { ...text, pattern: '^a', maxLength: 1998, not: { const: 'b' } },
        rows: {
          type: 'array',
          maxItems: 99,
          items: { type: 'array', items: { ...text, maxLength: 19 }, maxItems: 9 },
        },
        few: { type: 'array', maxItems: 9, items: { ...text, maxLength: 198 } },
      });
      const { schema: sent, changes } = fitSchema(schema, 'grammar');
      expect(sent).to.deep.equal(
        object({
          script: text,
          run: { ...text, maxLength: 1998 },
          rows: { type: 'array', maxItems: 99, items: { type: 'array', items: text, maxItems: 9 } },
          few: { type: 'array', maxItems: 9, items: { ...text, maxLength: 198 } },
        }),
      );
      expect(changes).to.deep.equal(['minLength', 'maxLength', 'pattern', 'not']);
    });

    it('has no bounds at all after a refusal', () => {
      const few = { type: 'array', maxItems: 9, items: { ...text, maxLength: 5 } };
      expect(fitSchema(object({ few }), 'grammar-minimal').schema).to.deep.equal(
        object({ few: { type: 'array', items: text } }),
      );
    });
  });

  it('takes schemas of any depth and width in a time that grows with them', () => {
    let deep: Schema = text;
    for (let level = 0; level < 400; level += 1) deep = object({ a: deep }, { anyOf: [{ required: ['a'] }] });
    const names = Array.from({ length: 5000 }, (_, at) => `d${at}`);
    const branch = (name: string) => object({ [name]: text, $same: { const: name } }, { required: [name] });
    const wide = object({}, { oneOf: names.map(branch), allOf: names.map(branch) });
    const $defs = Object.fromEntries(names.map((name, at) => [name, { $ref: `#/$defs/d${at + 1}` }]));
    for (const dialect of [
      'openai',
      'openai-strict',
      'anthropic',
      'anthropic-strict',
      'grammar',
    ] as SchemaDialect[])
      for (const schema of [deep, wide, { $ref: '#/$defs/d0', $defs }])
        expect(fitSchema(schema, dialect).schema).to.include({ type: 'object' });
  });
});
