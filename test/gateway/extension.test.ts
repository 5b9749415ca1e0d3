import { expect } from 'chai';
import type { ExtensionOf, Opened } from '#src/gateway/extension.js';
import { OpenExtensions } from '#src/gateway/open-extensions.js';
import { RequestWatches } from '#src/gateway/request-watches.js';

type Named = ExtensionOf<object, string>;

describe('extensions of a gateway', () => {
  const host = {};
  const done: string[] = [];
  const extension = (name: string, more: Partial<Named & Opened<string>> = {}): Named => ({
    name,
    open: async () => {
      done.push(`open ${name}`);
      return { api: name, close: async () => void done.push(`close ${name}`), ...more };
    },
    ...more,
  });
  const start = (opened: OpenExtensions<object>, list: readonly Named[]) =>
    opened.start(list, {} as never, {} as never);
  beforeEach(() => done.splice(0));

  it('open with it in the order of the list, if they start, and close before the services, the last first', async () => {
    const opened = new OpenExtensions(host);
    const on = { starts: () => true };
    await start(opened, [extension('a', on), extension('off', { starts: () => false }), extension('b', on)]);
    await opened.use(extension('c'));
    await opened.close();
    expect(done).to.deep.equal(['open a', 'open b', 'open c', 'close c', 'close b', 'close a']);
  });

  it('open once, at the first use', async () => {
    const opened = new OpenExtensions(host);
    const lazy = extension('lazy');
    expect(await Promise.all([opened.use(lazy), opened.use(lazy)])).to.deep.equal(['lazy', 'lazy']);
    expect(done).to.deep.equal(['open lazy']);
  });

  it('are not opened by a look at them', async () => {
    const opened = new OpenExtensions(host);
    const lazy = extension('lazy');
    expect(await opened.opened(lazy)).to.equal(undefined);
    expect(done).to.deep.equal([]);
    await opened.use(lazy);
    expect(await opened.opened(lazy)).to.equal('lazy');
  });

  it('are opened anew where the first time has failed', async () => {
    const opened = new OpenExtensions(host);
    const failing = extension('a', { open: () => Promise.reject(new Error('not now')) });
    const failure = await opened.use(failing).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'not now');
    expect(await opened.use(extension('a'))).to.equal('a');
  });

  it('are not opened by a gateway that has closed', async () => {
    const opened = new OpenExtensions(host);
    await opened.close();
    const failure = await opened.use(extension('a')).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'shutting_down');
  });
});

describe('the watches of requests', () => {
  const hooks = (watches: RequestWatches) => Object.entries(watches).filter(([, hook]) => hook !== undefined);

  it('have nothing that a request would call where no extension watches', () => {
    const watches = new RequestWatches();
    expect(hooks(watches)).to.deep.equal([]);
    watches.add({});
    expect(hooks(watches)).to.deep.equal([]);
  });

  it('have the function of an extension itself where it is alone', () => {
    const watches = new RequestWatches();
    const begin = (): void => undefined;
    watches.add({ begin });
    expect(hooks(watches)).to.deep.equal([['begin', begin]]);
  });

  it('call all that watch, in the order in which they were added', () => {
    const called: string[] = [];
    const watches = new RequestWatches();
    watches.add({ settled: () => void called.push('first') });
    watches.add({ begin: () => void called.push('begin'), settled: () => void called.push('second') });
    watches.settled?.({} as never);
    expect(called).to.deep.equal(['first', 'second']);
  });
});
