import type { FormatContext } from './contract/format.js';
import type { ModelReply } from './contract/state.js';

/** Name of the model in an answer: the caller's own for the model that it asked for, unless another one answered (design §6). */
export function answeringModel(
  asked: string,
  { model }: Pick<ModelReply, 'model'>,
  context: Pick<FormatContext, 'findModel'>,
): string {
  return model === '' || model === asked || context.findModel(asked)?.id === model ? asked : model;
}
