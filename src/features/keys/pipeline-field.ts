import type { Config } from '../../config/config.js';
import { defaultPipeline } from '../../plugin/core.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { invalid } from '../../operator/check.js';
import { Nullable } from '../../operator/schemas.js';

/** Name of a pipeline as a body sets it; null or an empty text removes it. */
export const settablePipeline = Type.Optional(
  Nullable(Type.String({ maxLength: 64, pattern: '^[\\w.:-]*$' })),
);

export const reportedPipeline = Nullable(
  Type.String({ description: 'Pipeline that it names; `default` is one too, null: none.' }),
);

/** Patch with the pipeline of a body: null for an empty name. */
export function pipelinePatch({
  pipeline,
}: {
  readonly pipeline?: string | null;
}): string | null | undefined {
  return pipeline === '' ? null : pipeline;
}

/** Throws `invalid_request` for a pipeline that the config lacks. */
export function refuseUnknownPipeline(
  { runtime }: Gateway,
  { pipeline }: { readonly pipeline?: string | null },
): void {
  const known = pipelineNames(runtime.config);
  if (typeof pipeline !== 'string' || known.includes(pipeline)) return;
  const meant = didYouMean(pipeline, known);
  const cure = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  const names = known.map((name) => JSON.stringify(name)).join(', ');
  throw invalid([`pipeline: unknown pipeline ${JSON.stringify(pipeline)}; there are ${names}${cure}`]);
}

/** Names of the pipelines of a config, the default one first. */
export function pipelineNames({ pipelines }: Pick<Config, 'pipelines'>): readonly string[] {
  return [defaultPipeline, ...pipelines.map(({ name }) => name)];
}
