import type { Template } from './template.js';

/** An account with two headers as its proof. */
export const account: Template = {
  plugin: `
import { Type } from '@gw2api/gateway/plugin';
import { defineAccount } from '@gw2api/gateway/plugin/upstream';

/** Proves a team by its name and its key. */
export default defineAccount({
  name: '__NAME__',
  api: 1,
  options: Type.Object({
    team: Type.String({ minLength: 1, description: 'Name of the team.' }),
    key: Type.String({ minLength: 1, secret: true, description: 'Key of the team.' }),
  }),
  open({ team, key }) {
    return { authorize: () => ({ 'x-team': team, 'x-team-key': key }) };
  },
});
`,
  test: `
import { describe, it } from 'mocha';
import { accountChecks } from '@gw2api/gateway/testing';
import kind from '__MODULE__';

describe('__NAME__', () => {
  for (const { name, run } of accountChecks({ kind, options: { team: 'red', key: 'test-key-1' } })) it(name, run);
});
`,
};
