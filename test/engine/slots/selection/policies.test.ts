import { expect } from 'chai';
import type { Candidate } from '@gw2api/gateway/plugin';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';

describe('picking policies', () => {
  it('least-loaded takes the least in-flight per weight', () => {
    const heavy = candidate('a', { inFlight: 3, weight: 4 });
    expect(picks('least-loaded', 1, heavy, candidate('b', { inFlight: 1 }))).to.equal('a');
  });

  it('least-loaded lets ties take turns', () => {
    const idle = [candidate('a'), candidate('b'), candidate('c')];
    expect(picks('least-loaded', 7, ...idle)).to.equal('abcabca');
  });

  it('round-robin gives everyone a turn, whatever is in flight', () => {
    expect(picks('round-robin', 4, candidate('a', { inFlight: 9 }), candidate('b'))).to.equal('abab');
  });

  it('round-robin gives a slot of weight 2 two turns of three, and spreads them', () => {
    expect(picks('round-robin', 6, candidate('a', { weight: 2 }), candidate('b'))).to.equal('abaaba');
  });

  it('priority takes the first of the config, in whatever order they are given', () => {
    expect(picks('priority', 3, candidate('b'), candidate('a'))).to.equal('aaa');
  });

  it('keeps turns of its own in each policy made', () => {
    expect(picks('round-robin', 1, candidate('a'), candidate('b'))).to.equal('a');
    expect(picks('round-robin', 1, candidate('a'), candidate('b'))).to.equal('a');
  });
});

function candidate(id: string, changes: Partial<Candidate> = {}): Candidate {
  return { id, weight: 1, inFlight: 0, order: id.codePointAt(0)!, ...changes };
}

function picks(name: string, times: number, ...candidates: readonly Candidate[]): string {
  const policy = builtinPolicies[name]!();
  return Array.from({ length: times }, () => policy(candidates).id).join('');
}
