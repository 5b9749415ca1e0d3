import { expect } from 'chai';
import { optionNames, optionsIn, usage } from './options.js';
import { sections as sectionsOfBench } from './sections/index.js';

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

  it('measure another build twice, in fifteen rounds or more, where they name one', () => {
    const options = optionsIn(['--against', '.', '--baselines', 'none'], sections);
    expect(options?.targets).to.have.members(['old', 'gateway', 'old again']);
    expect(options).to.include({ against: process.cwd(), rounds: 15, minutes: 60 });
    expect(optionsIn(['--against', '.', '--rounds', '11'], sections)?.rounds).to.equal(11);
    expect(optionsIn([], sections)).to.include({ against: undefined, rounds: 7 });
    expect(optionsIn([], sections)?.targets).to.not.include('old');
  });

  it('have V8 settle before the first round, unless it is a quick run', () => {
    expect(optionsIn([], sections)?.warmUpRequests).to.equal(10_000);
    expect(optionsIn(['--against', '.'], sections)?.warmUpRequests).to.equal(10_000);
    expect(optionsIn(['--quick'], sections)?.warmUpRequests).to.equal(1500);
  });

  it('have a help that names each of them and each section', () => {
    const named = [...usage.matchAll(/^  --([a-z]+)/gm)].map(([, name]) => name);
    expect(named).to.have.members(optionNames.filter((name) => name !== 'help'));
    for (const { name } of sectionsOfBench.filter((section) => !/^W\d+$/.test(section.name)))
      expect(usage).to.include(name);
    expect(usage).to.include('W0 to W10');
    expect(optionsIn(['--help'], sections)).to.equal(undefined);
  });

  it('say what is wrong with them', () => {
    expect(() => optionsIn(['--only', 'W11'], sections)).to.throw(
      '--only: there is no "w11"; there are w1, w2, start.',
    );
    expect(() => optionsIn(['--rounds', 'many'], sections)).to.throw('--rounds must be a number above 0');
    expect(() => optionsIn(['--baselines', 'caddy'], sections)).to.throw('there is no "caddy"');
    expect(() => optionsIn(['--baselines', 'old'], sections)).to.throw('there is no "old"');
    expect(() => optionsIn(['--against', 'src'], sections)).to.throw('there is no dist/server.js in "src"');
    expect(() => optionsIn(['--fast'], sections)).to.throw('--fast');
  });
});
