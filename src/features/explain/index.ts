import type { Feature, Verb } from '../feature.js';
import { liveExplainer } from './extension.js';
import type { ExplainValues } from './verb/command.js';

const verb: Verb<ExplainValues> = {
  after: 'docs',
  usage: `  gw2api explain --body FILE     send a request through a dry run of a config, and print what each stage does with it, which
                                 slots are considered, what goes out and what its caller is told; nothing leaves the machine
     --post PATH                 default /v1/messages
     --as KEY                    name of its key, master, or none
     --key-limit NAME=AMOUNT     limit of that key: requestsPerMinute, tokensPerMinute, tokensPerDay, tokensPerMonth,
                                 usdPerDay, usdPerMonth
     --used NAME=AMOUNT          use of that limit, or of one in the config, when the request comes
     --team-limit, --team-used   the same for the team of that key
     --header 'name: value'      any number
     --slot SLOT=SCENARIO        what answers in place of a slot: a scenario of the simulator, such as '429 retry-after=2'
     --json                      the same as JSON
`,
  options: {
    config: 'text',
    body: 'text',
    post: 'text',
    as: 'text',
    header: 'texts',
    slot: 'texts',
    'key-limit': 'texts',
    used: 'texts',
    'team-limit': 'texts',
    'team-used': 'texts',
    json: 'flag',
  },
  words: 0,
  isShort: true,
  run: async (call) => (await import('./verb/command.js')).run(call),
};

/** Explanations of requests, without sending them. */
export const explain: Feature = {
  ...liveExplainer,
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
  verbs: { explain: verb },
};
