import { expect } from 'chai';
import { runStage } from '@gw2api/gateway/testing';
import temperatureCap from '#plugins/temperature-cap.js';

describe('temperature-cap', () => {
  const limited = async (fields: { readonly temperature?: number }) => {
    const request = { model: 'test-model', messages: [], ...fields };
    const { state } = await runStage(temperatureCap, { options: { limit: 0.5 }, state: { request } });
    return state.request;
  };

  it('lowers a temperature above the limit', async () => {
    expect(await limited({ temperature: 0.9 })).to.include({ temperature: 0.5 });
  });

  it('neither raises nor sets one', async () => {
    expect(await limited({ temperature: 0.1 })).to.include({ temperature: 0.1 });
    expect(await limited({})).not.to.have.property('temperature');
  });
});
