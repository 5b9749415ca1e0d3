import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import {
  fakeHost,
  fakeKeys,
  fakeSlot,
  fakeSlots,
  stageChecks,
  type StageSubject,
} from '@gw2api/gateway/testing';
import { builtinStages, loadStage } from './builtin-stages.js';
import { serveRemote } from './remote/service.js';
import messages from '#plugins/formats/messages/index.js';

const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-recordings-'));

const byKey = {
  host: () => fakeHost({ keys: fakeKeys({ 'test-key': { kind: 'master' } }) }),
  request: { headers: { 'x-api-key': 'test-key' } },
} as const;

await writeFile(path.join(folder, 'jwks.json'), '{"keys":[]}');

const allowing = await serveRemote(() => ({ verdict: 'allow' }));

/** What a stage needs besides the defaults. */
const needs: Readonly<Record<string, Partial<StageSubject>>> = {
  auth: byKey,
  'jwt-auth': {
    ...byKey,
    options: { jwks: path.join(folder, 'jwks.json'), issuer: 'https://issuer.example', audience: 'gateway' },
  },
  fallback: { options: { to: { 'other-model': ['test-model'] } } },
  'model-router': { options: { routes: [{ model: ['other-model'], to: 'test-model' }] } },
  'format-encode': { host: () => fakeHost({ formats: { get: () => messages } }) },
  'slot-pick': { host: () => fakeHost({ slots: fakeSlots(fakeSlot('a')) }) },
  record: { options: { folder } },
  guard: { options: { patterns: ['email'] } },
  remote: { options: { url: allowing.url, on: ['request', 'events'] } },
};

const stages = await builtinStages();
const plugins = await Promise.all(
  Array.from(stages, async ([name, module]) => ({ name, plugin: await loadStage(module) })),
);

describe('the built-in stages', () => {
  after(async () => {
    await allowing.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { name, plugin } of plugins)
    describe(name, () => {
      for (const check of stageChecks({ plugin, ...needs[name] })) it(check.name, check.run);
    });

  it('are all in their conformance suite', () => {
    expect([...stages.keys()]).to.include.members(['auth', 'format-encode', 'usage-mask', 'remote']);
  });
});
