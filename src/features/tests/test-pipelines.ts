import type { Config, ConfigProblem, PipelineConfig } from '../../config/config.js';
import { writePath } from '../../config/document.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { defaultPipeline } from '../../plugin/core.js';
import type { ConfigTest, NamedPipeline } from './config-test.js';
import { readConfigTests } from './read-tests.js';

/** Pipelines that the keys, teams and expectations of a test name. */
export function namedPipelines({ settings, steps, path }: ConfigTest): readonly NamedPipeline[] {
  const ofHolders = (['keys', 'teams'] as const).flatMap((kind) =>
    Object.entries(settings[kind] ?? {}).flatMap(([holder, { pipeline }]) =>
      pipeline === undefined ? [] : [{ name: pipeline, at: [...path, kind, holder, 'pipeline'] }],
    ),
  );
  return [...ofHolders, ...steps.flatMap(({ requests }) => requests.flatMap(({ pipelines }) => pipelines))];
}

/**
 * Problems of the tests in a config, of unknown pipelines with `pipelines` alone. A test with an environment of its own
 * may change the pipelines by it, and one with `skip` does not run: what these name is not compared.
 */
export function problemsOfTests(
  text: string,
  file: string,
  pipelines?: Config['pipelines'],
): readonly ConfigProblem[] {
  const { tests, problems } = readConfigTests(text, file);
  if (!pipelines) return problems;
  const compared = tests.filter(({ env, skip }) => skip === undefined && Object.keys(env).length === 0);
  return [...problems, ...compared.flatMap((test) => unknownPipelines(test, pipelines))];
}

/** Problems of the places in a test that name pipelines which its config lacks. */
export function unknownPipelines(
  test: ConfigTest,
  pipelines: readonly Pick<PipelineConfig, 'name'>[],
): readonly ConfigProblem[] {
  const names = [defaultPipeline, ...pipelines.map(({ name }) => name)];
  return namedPipelines(test)
    .filter(({ name }) => !names.includes(name))
    .map(({ name, at }) => {
      const meant = didYouMean(name, names);
      const cure = meant === undefined ? `known: ${names.join(', ')}` : `did you mean "${meant}"?`;
      const message = `"${name}" is not a pipeline of the config; ${cure}`;
      const owner = test.pipeline !== undefined && { pipeline: test.pipeline };
      return { at: test.positionOf(at), path: writePath(at), message, ...owner };
    });
}
