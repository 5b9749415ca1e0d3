import type { Feature, Verb } from '../feature.js';
import type { ReplayValues } from './verb/command.js';

const verb: Verb<ReplayValues> = {
  after: 'diff',
  usage: `  gw2api replay --config NEW [--against OLD] --recorded FOLDER | --last 24h
                                 run requests that the stage \`record\` has kept through two configs, and print what
                                 differs; OLD is the config file without --config. 1 where they differ, 2 on an error
     --last TIME                 recordings of the last 24h, 7d; of the folder in OLD, unless --recorded names one
     --limit N                   the newest N of them; default 10000
     --slot ID=SCENARIO          what answers in place of a slot in both; default: an ordinary answer
     --texts                     print the texts of the first request of each kind, too
     --json                      the same as JSON
     --delete                    delete these recordings instead
`,
  options: {
    config: 'text',
    against: 'text',
    recorded: 'text',
    last: 'text',
    limit: 'text',
    slot: 'texts',
    texts: 'flag',
    delete: 'flag',
    json: 'flag',
  },
  words: 0,
  run: async (call) => (await import('./verb/command.js')).run(call),
};

/** Comparison of two configs by recorded requests. */
export const replay: Feature = {
  name: 'replay',
  verbs: { replay: verb },
  reseal: async (...given) => (await import('./reseal.js')).resealRecordings(...given),
};
