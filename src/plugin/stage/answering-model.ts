import type { FormatContext } from '../contract/format.js';
import type { ModelReply } from '../contract/state.js';

/** Name of the model in an answer: the caller's own for the requested model, unless another one answered. */
export function answeringModel(
  asked: string,
  { model }: Pick<ModelReply, 'model'>,
  { models, findModel }: Pick<FormatContext, 'findModel' | 'models'>,
): string {
  if (model === '' || model === asked || findModel(asked)?.id === model) return asked;
  return models.idOf(withoutContextSuffix(asked)) === model ? asked : model;
}

/** A model's name without the suffix `[1m]`, Claude Code's way to request a context of a million tokens. */
export function withoutContextSuffix(model: string): string {
  return model.endsWith(']') ? model.replace(/\[1m\]$/i, '') : model;
}
