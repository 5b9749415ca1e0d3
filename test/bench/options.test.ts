import { expect } from 'chai';
import { optionsIn } from './options.js';

const sections = ['W1', 'W2', 'start'];

describe('the options of the bench', () => {
  it('take all sections and all baselines where nothing is said', () => {
    const options = optionsIn([], sections);
    expect(options?.only).to.equal(undefined);
    expect(options?.targets).to.include.members(['direct', 'pass-through', 'gateway', 'nginx', 'portkey']);
    expect(options?.installsPortkey).to.equal(false);
  });

  it('always have the gateway among those that are measured', () => {
    expect(optionsIn(['--baselines', 'nginx'], sections)?.targets).to.have.members(['gateway', 'nginx']);
    expect(optionsIn(['--quick'], sections)?.targets)
      .to.include('gateway')
      .and.not.include('portkey');
  });

  it('say what is wrong with them', () => {
    expect(() => optionsIn(['--only', 'W9'], sections)).to.throw(
      '--only: there is no "w9"; there are w1, w2, start.',
    );
    expect(() => optionsIn(['--rounds', 'many'], sections)).to.throw('--rounds must be a number above 0');
    expect(() => optionsIn(['--baselines', 'caddy'], sections)).to.throw('there is no "caddy"');
    expect(() => optionsIn(['--fast'], sections)).to.throw('--fast');
  });
});
