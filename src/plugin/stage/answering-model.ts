import type { FormatContext } from '../contract/format.js';
import type { ModelReply } from '../contract/state.js';

/** Name of the model in an answer: the caller's own for the model that it asked for, unless another one answered. */
export function answeringModel(
  asked: string,
  { model }: Pick<ModelReply, 'model'>,
  { models, findModel }: Pick<FormatContext, 'findModel' | 'models'>,
): string {
  if (model === '' || model === asked || findModel(asked)?.id === model) return asked;
  return models.idOf(withoutContextSuffix(asked)) === model ? asked : model;
}

/** A model's name without `[1m]` behind it, Claude Code's way to ask for a context of a million tokens. */
export function withoutContextSuffix(model: string): string {
  return model.endsWith(']') ? model.replace(/\[1m\]$/i, '') : model;
}
