import type { ConfigTests } from './feature.js';
import { features } from './index.js';

/** Tests of configs, by the feature that runs them; none without such a feature. */
export const configTests: ConfigTests = features.find(({ configTests }) => configTests)?.configTests ?? {
  run: async () => ({ passed: 0, failures: [] }),
  problemsOf: async () => [],
  definitions: async () => ({ test: true }),
};
