import type { ConfigProblem, PipelineConfig } from '../../config/config.js';
import { writePath, type Path } from '../../config/document.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { defaultPipeline } from '../../plugin/core.js';
import type { ConfigTest } from './config-test.js';

interface NamedPipeline {
  readonly name: string;
  /** Path in the file of the key or team that names it. */
  readonly at: Path;
}

/** Pipelines that the keys and teams of a test name. */
export function namedPipelines({ settings, path }: ConfigTest): readonly NamedPipeline[] {
  return (['keys', 'teams'] as const).flatMap((kind) =>
    Object.entries(settings[kind] ?? {}).flatMap(([holder, { pipeline }]) =>
      pipeline === undefined ? [] : [{ name: pipeline, at: [...path, kind, holder, 'pipeline'] }],
    ),
  );
}

/** Problems of keys and teams of a test that name pipelines which its config lacks. */
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
      return { at: test.positionOf(at), path: writePath(at), message };
    });
}
