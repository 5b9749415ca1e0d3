import type { Feature, Verb } from '../feature.js';
import type { TestValues } from './verb/command.js';

const verb: Verb<TestValues> = {
  after: 'doctor',
  usage: `  gw2api test [FILES] [--config FILE]
                                 run the tests of a config, in it and in *.test.yaml beside it, or those of FILES; 1 where
                                 one fails, 2 where they or the config are refused
     --ci                        refuse tests with "only" or "skip"
     --watch                     again at each change of the config, the tests and local plugins
     --update                    write expected values in place of "expect: snapshot", in *.test.yaml
     --json | --junit            for programs
     --schema                    print the JSON Schema of test files, for editors
`,
  options: {
    config: 'text',
    json: 'flag',
    junit: 'flag',
    ci: 'flag',
    update: 'flag',
    watch: 'flag',
    schema: 'flag',
  },
  words: Infinity,
  isShort: true,
  run: async (call) => (await import('./verb/command.js')).run(call),
};

/** Tests of a config, in it and beside it. */
export const tests: Feature = {
  name: 'tests',
  verbs: { test: verb },
  configTests: {
    run: async (...given) => (await import('./before-reload.js')).testConfig(...given),
    problemsOf: async (...given) => (await import('./test-pipelines.js')).problemsOfTests(...given),
    definitions: async () => (await import('./test-editor-schema.js')).testDefinitions,
  },
};
