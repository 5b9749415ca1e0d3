import { expect } from 'chai';
import { pluginPlace } from '#src/engine/trace/plugin-place.js';
import { endsInOrder, LossWorkshop } from './lost-exceptions.js';

describe('an exception that nobody catches', function () {
  this.timeout(60_000);
  const workshop = new LossWorkshop();
  afterEach(() => workshop.end());

  it('is one line of the log; streams finish, and the process ends with code 1: timer', () =>
    endsInOrder(workshop, 'timer'));
});

describe('the plugin of an error', () => {
  const stackOf = (...places: readonly string[]) => ({
    stack: ['Error: lost', ...places.map((place) => `    at ${place}`)].join('\n'),
  });

  it('is the first place of its stack that is nobody else’s', () => {
    const ours = new URL('../../../../http/exchange.js', import.meta.url).href;
    const plugins: readonly (readonly [object, string | undefined])[] = [
      [
        stackOf('node:net:1611:16', `run (${ours}:3:1)`, 'f (file:///srv/my/redact.js?mtime=1.5:12:5)'),
        '/srv/my/redact.js:12:5',
      ],
      [stackOf('Object.<anonymous> (/srv/old.cjs:3:4)'), '/srv/old.cjs:3:4'],
      [stackOf('file:///srv/a.js:1:2'), '/srv/a.js:1:2'],
      [stackOf('g (/srv/node_modules/x/i.js:1:2)', 'f (/srv/a.js:3:4)'), '/srv/a.js:3:4'],
      [stackOf('g (/srv/node_modules/x/i.js:1:2)'), '/srv/node_modules/x/i.js:1:2'],
      [stackOf('TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)'), undefined],
      [stackOf(), undefined],
      [{ stack: 5 }, undefined],
    ];
    for (const [error, place] of plugins) expect(pluginPlace(error)).to.equal(place);
    for (const nothing of [null, undefined, 'text', 5]) expect(pluginPlace(nothing)).to.equal(undefined);
  });

  it('is looked for in a stack of any size, in no time to speak of', () => {
    const stack = `    at ${'('.repeat(5_000_000)}`;
    expect(pluginPlace({ stack })).to.equal(undefined);
  });
});
