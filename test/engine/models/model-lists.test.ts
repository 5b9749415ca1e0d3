import { expect } from 'chai';
import type { ListedModel } from '#src/plugin/upstream/index.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { KnownModels } from '#src/engine/models/known-models.js';
import { ModelLists, type ModelSource } from '#src/engine/models/model-lists.js';
import { clockAt } from '../../clock-at.js';

class Source implements ModelSource {
  readonly id: string;
  models: readonly ListedModel[] | Error;
  asked = 0;

  constructor(id: string, models: readonly ListedModel[] | Error) {
    this.id = id;
    this.models = models;
  }

  async listModels(): Promise<readonly ListedModel[]> {
    this.asked += 1;
    if (this.models instanceof Error) throw this.models;
    return this.models;
  }
}

describe('the lists of the slots’ models', () => {
  let nowMs = 0;
  let sources: Source[];
  let known: KnownModels;
  let lists: ModelLists;
  beforeEach(() => {
    nowMs = 0;
    sources = [new Source('a', [{ id: 'm', maxTokens: 10 }]), new Source('b', [{ id: 'm', maxTokens: 5 }])];
    known = new KnownModels();
    lists = new ModelLists({
      known,
      sources: () => sources,
      log: fakeHost().log,
      clock: clockAt(() => nowMs),
    });
  });

  /** Asks for a model that nobody has a catalog entry of, `ms` later; gives its cap once all is settled. */
  async function want(ms = 0): Promise<number | undefined> {
    nowMs += ms;
    known.profile('m');
    await new Promise((resolve) => setImmediate(resolve));
    return known.profile('m').maxTokens;
  }
  const asked = () => sources.map((source) => source.asked);

  it('are asked for once an hour, when a model is wanted', async () => {
    expect(await want()).to.equal(5);
    await want(60_000);
    expect(asked()).to.deep.equal([1, 1]);
    await want(3_600_000);
    expect(asked()).to.deep.equal([2, 2]);
  });

  it('outlive a failure, after which they are asked for again in five minutes', async () => {
    await want();
    sources[1]!.models = new Error('gone');
    expect(await want(3_600_000)).to.equal(5);
    await want(280_000);
    expect(asked()).to.deep.equal([2, 2]);
    await want(20_000);
    expect(asked()).to.deep.equal([2, 3]);
  });

  it('are asked for again after a failure of the slots themselves', async () => {
    const current = sources;
    const { log, logged } = fakeHost();
    let failures = 1;
    lists = new ModelLists({
      known: (known = new KnownModels()),
      sources() {
        if (failures-- > 0) throw new Error('no slots');
        return current;
      },
      log,
      clock: clockAt(() => nowMs),
    });
    expect(await want()).to.equal(undefined);
    expect(logged.map(({ message }) => message)).to.deep.equal([
      'The models of the slots could not be listed.',
    ]);
    expect(await want(10_000)).to.equal(5);
    await lists.close();
  });

  it('that cannot be read count as failures', async () => {
    sources[0]!.models = undefined as never; // a plugin may give anything
    expect(await want()).to.equal(5);
    await want(290_000);
    expect(asked()).to.deep.equal([1, 1]);
    await want(20_000);
    expect(asked()).to.deep.equal([2, 1]);
    await lists.close();
  });

  it('follow the slots', async () => {
    await want();
    sources.pop();
    sources.push(new Source('c', [{ id: 'm', maxTokens: 7 }]));
    expect(await want(10_000)).to.equal(7);
    expect(asked()).to.deep.equal([1, 1]);
  });

  it('are asked for by nobody any more once they are closed', async () => {
    await lists.close();
    await want();
    expect(asked()).to.deep.equal([0, 0]);
  });
});
