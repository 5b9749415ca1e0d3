import type { ConfigTests } from './feature.js';
import { features } from './index.js';

/** Tests of configs; without a feature for them no config has any. */
export const configTests: ConfigTests = features.find(({ configTests }) => configTests)?.configTests ?? {
  run: async () => ({ passed: 0, failures: [] }),
  problemsOf: async () => [],
  definitions: async () => ({ test: true }),
};
