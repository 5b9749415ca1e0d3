import { Type } from '#src/plugin/schema/type.js';
import { expect } from 'chai';
import { Type as TypeBox } from 'typebox';

type Builder = typeof Type;

const written: Readonly<Record<string, (type: Builder) => object>> = {
  'an object of which some is optional': (type) =>
    type.Object({ a: type.Optional(type.String({ minLength: 1 })), b: type.Integer() }, { title: 'it' }),
  'an object of which all is optional': (type) => type.Object({ a: type.Optional(type.Boolean()) }),
  'an empty object': (type) => type.Object({}),
  'an array': (type) => type.Array(type.Number({ minimum: 0 }), { minItems: 1 }),
  'a record of any keys': (type) => type.Record(type.String(), type.Unknown(), { default: {} }),
  'a record of some keys': (type) => type.Record(type.String({ pattern: '^a' }), type.Null()),
  'a choice': (type) => type.Union([type.Literal('a'), type.Literal(1), type.Literal(true), type.Null()]),
  'an enumeration': (type) => type.Enum(['a', 'b'], { default: 'a' }),
  'a schema of its own': (type) => type.Unsafe<string>({ unit: 'duration', default: '1s' }),
};

describe('Type', () => {
  for (const [name, write] of Object.entries(written))
    it(`builds what TypeBox builds: ${name}`, () => {
      expect(JSON.stringify(write(Type))).to.equal(JSON.stringify(write(TypeBox)));
    });

  it('takes the schemas of TypeBox, and TypeBox takes its', () => {
    const mixed = (outer: Builder, inner: Builder) =>
      outer.Object({
        a: outer.Optional(inner.String()),
        b: inner.Optional(inner.Unsafe<number>({ minimum: 1 })),
        c: outer.Array(inner.Integer()),
        d: outer.Union([inner.Object({ e: inner.Optional(inner.Null()) }), inner.Literal('f')]),
      });
    const whole = JSON.stringify(mixed(TypeBox, TypeBox));
    expect(JSON.stringify(mixed(Type, TypeBox))).to.equal(whole);
    expect(JSON.stringify(mixed(TypeBox, Type))).to.equal(whole);
  });

  it('marks a copy as optional, and not the schema itself', () => {
    const text = Type.String();
    Type.Optional(text);
    expect(Type.Object({ text })).to.have.deep.property('required', ['text']);
  });
});
