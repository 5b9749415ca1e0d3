import { Type } from 'typebox';
import { expect } from 'chai';
import { unreadMembers } from '#plugins/formats/shared/unread/unread-members.js';
import { UnsupportedFields } from '#plugins/formats/shared/unread/unsupported-fields.js';
import { countedPart } from './counted-fields.js';

const report = unreadMembers(Type.Array(Type.Object({ role: Type.String() })));

describe('members that are not read', () => {
  it('are named with their paths', () => {
    const dropped = new UnsupportedFields();
    report([{ role: 'user' }, { role: 'user', b: 1, c: null }], 'messages', dropped);
    expect(dropped.paths).to.deep.equal(['messages[1].b']);
  });

  it('are looked at until there is room for no more, however many there are', () => {
    const dropped = new UnsupportedFields();
    const { part, looks } = countedPart({}, 20_000);
    report([part], 'messages', dropped);
    expect(dropped.paths).to.have.length(1000);
    expect(looks()).to.be.below(1100);
  });

  it('are not looked at in the parts that follow', () => {
    const dropped = new UnsupportedFields();
    const { part, looks } = countedPart({}, 10);
    report([{ ...countedPart({}, 1000).part }, part], 'messages', dropped);
    report([part], 'tools', dropped);
    expect(dropped.paths).to.have.length(1000);
    expect(looks()).to.equal(0);
  });
});
