import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import type { Plugin } from '#src/plugin/index.js';
import {
  fakeHost,
  fakeKeys,
  fakeSlot,
  fakeSlots,
  stageChecks,
  type StageSubject,
} from '@gw2api/gateway/testing';
import messages from '#plugins/formats/messages/index.js';

const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-recordings-'));

const byKey = {
  host: () => fakeHost({ keys: fakeKeys({ 'test-key': { kind: 'master' } }) }),
  request: { headers: { 'x-api-key': 'test-key' } },
} as const;

await writeFile(path.join(folder, 'jwks.json'), '{"keys":[]}');

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
};

const names = (await readdir('plugins'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -3));

const plugins = await Promise.all(
  names.map(async (name) => {
    const { default: plugin } = (await import(`#plugins/${name}.js`)) as { default: Plugin };
    return { name, plugin };
  }),
);

describe('the built-in stages', () => {
  after(() => rm(folder, { recursive: true, force: true }));

  for (const { name, plugin } of plugins)
    describe(name, () => {
      for (const check of stageChecks({ plugin, ...needs[name] })) it(check.name, check.run);
    });

  it('are all in their conformance suite', () => {
    expect(names).to.include.members(['auth', 'format-encode', 'usage-mask']);
  });
});
