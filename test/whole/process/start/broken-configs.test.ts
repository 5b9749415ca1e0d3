import { expect } from 'chai';
import { ProcessWorkshop } from '../../gateway-process.js';

const whole = `listen: { port: 8787 }
pipeline:
  - use: auth
  - use: body-limit
  - use: format-decode
  - use: max-tokens
    with: { cap: 64000 }
  - use: slot-pick
  - use: upstream-call
  - use: usage-mask
  - use: format-encode
slots:
  - id: team-a
    upstream: messages
    baseUrl: https://upstream.example
    account: { kind: api-key, key: "a key" }
`;

/** What is done to the config, and all that `check` says of it. */
const broken: Readonly<Record<string, readonly [was: string, is: string, says: readonly string[]]>> = {
  'an unknown key': ['listen:', 'lisen:', ['gw.yaml:1:1 lisen: is not a known key; did you mean "listen"?']],
  'an unknown plugin': [
    'use: body-limit',
    'use: body-limits',
    [
      'gw.yaml:4:5 pipeline[1].use "body-limits" is neither a built-in nor an installed npm package; did you mean "body-limit"?',
    ],
  ],
  'an option of the wrong type': [
    'cap: 64000',
    'cap: "64000"',
    ['gw.yaml:7:13 pipeline[3].with.cap: must be a whole number, not a string; write it without quotes'],
  ],
  'an unknown option': [
    'cap: 64000',
    'max: 64000',
    ['gw.yaml:7:13 pipeline[3].with.max: is not a known key; known here: cap'],
  ],
  'an order that cannot work': [
    '  - use: upstream-call\n  - use: usage-mask\n',
    '  - use: usage-mask\n  - use: upstream-call\n',
    [
      'gw.yaml:9:5 pipeline[5] "usage-mask" needs "reply", which "upstream-call" provides only at line 10; move it below',
    ],
  ],
  'a stage that is missing': [
    '  - use: slot-pick\n',
    '',
    [
      'gw.yaml:8:5 pipeline[4] "upstream-call" needs "picker", which no stage provides; add "- use: slot-pick" above it',
    ],
  ],
  'two slots of one id': [
    'slots:\n',
    'slots:\n  - { id: team-a, upstream: simulator }\n',
    ['gw.yaml:14:5 slots[1].id: "team-a" is already the id of slots[0] at line 13; give each slot its own'],
  ],
  'a slot without an account': [
    '    account: { kind: api-key, key: "a key" }\n',
    '',
    [
      'gw.yaml:13:5 slots[0].account: is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` if none is needed',
    ],
  ],
  'a variable that is not set': [
    '"a key"',
    '"${TEAM_A_KEY}"',
    [
      'gw.yaml:16:31 slots[0].account.key: the environment variable TEAM_A_KEY is not set; set it, or write ${TEAM_A_KEY:-default}',
    ],
  ],
  'text that is no YAML': [
    'slots:\n',
    'slots: [\n',
    ['gw.yaml:13:9 is not valid YAML here: Nested mappings are not allowed in compact mappings'],
  ],
};

describe('a broken config', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  for (const [what, [was, is, says]] of Object.entries(broken))
    it(`is refused for ${what} in exit code 1, with its place and its cure`, async () => {
      const cwd = await workshop.folder({ 'gw.yaml': whole.replace(was, is) });
      const ended = await workshop.run({ cwd, args: ['check', '--config', 'gw.yaml'] });
      expect(ended.stderr.trimEnd().split('\n')).to.deep.equal(says);
      expect(ended).to.include({ code: 1, stdout: '' });
    });
});
