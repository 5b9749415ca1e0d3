import { Type } from 'typebox';
import { expect } from 'chai';
import { unreadMembers } from '#plugins/formats/shared/unread-members.js';
import { UnsupportedFields } from '#plugins/formats/shared/unsupported-fields.js';

const report = unreadMembers(Type.Array(Type.Object({ role: Type.String() })));

/** An object of so many unknown fields, and a count of those that have been looked at. */
function counted(fields: number): { readonly message: object; readonly looks: () => number } {
  let count = 0;
  const names = Array.from({ length: fields }, (_, nth) => [`f${nth}`, 1] as const);
  const message = new Proxy(Object.fromEntries(names), {
    get: (target, name) => ((count += 1), Reflect.get(target, name)),
  });
  return { message, looks: () => count };
}

describe('members that are not read', () => {
  it('are named with their paths', () => {
    const dropped = new UnsupportedFields();
    report([{ role: 'user' }, { role: 'user', b: 1, c: null }], 'messages', dropped);
    expect(dropped.paths).to.deep.equal(['messages[1].b']);
  });

  it('are looked at until there is room for no more, however many there are', () => {
    const dropped = new UnsupportedFields();
    const { message, looks } = counted(20_000);
    report([message], 'messages', dropped);
    expect(dropped.paths).to.have.length(1000);
    expect(looks()).to.be.below(1100);
  });
});
