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

  it('measure another build twice, in nine rounds or more, where they name one', () => {
    const options = optionsIn(['--against', '.', '--baselines', 'none'], sections);
    expect(options?.targets).to.have.members(['old', 'gateway', 'old again']);
    expect(options).to.include({ against: process.cwd(), rounds: 9, minutes: 30 });
    expect(optionsIn(['--against', '.', '--rounds', '11'], sections)?.rounds).to.equal(11);
    expect(optionsIn([], sections)).to.include({ against: undefined, rounds: 7 });
    expect(optionsIn([], sections)?.targets).to.not.include('old');
  });

  it('say what is wrong with them', () => {
    expect(() => optionsIn(['--only', 'W9'], sections)).to.throw(
      '--only: there is no "w9"; there are w1, w2, start.',
    );
    expect(() => optionsIn(['--rounds', 'many'], sections)).to.throw('--rounds must be a number above 0');
    expect(() => optionsIn(['--baselines', 'caddy'], sections)).to.throw('there is no "caddy"');
    expect(() => optionsIn(['--baselines', 'old'], sections)).to.throw('there is no "old"');
    expect(() => optionsIn(['--against', 'src'], sections)).to.throw('there is no dist/server.js in "src"');
    expect(() => optionsIn(['--fast'], sections)).to.throw('--fast');
  });
});
