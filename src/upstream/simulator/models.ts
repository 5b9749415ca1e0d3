/** What the simulator's upstream models can do. */
export interface SimulatedModel {
  readonly maxTokens: number;
  /** False: a `tool_choice` of any or tool is refused. */
  readonly forcedToolChoice: boolean;
  /** False: `temperature`, `top_p` and `top_k` are refused. */
  readonly sampling: boolean;
}

const ordinary: SimulatedModel = { maxTokens: 128_000, forcedToolChoice: true, sampling: true };

/** The models that `GET /v1/models` lists; a request may name any other too. */
export const listedModels: Readonly<Record<string, SimulatedModel>> = {
  'sonnet-5': ordinary,
  'sonnet-5-5': { ...ordinary, forcedToolChoice: false },
  'haiku-5': ordinary,
};

/** A model by id: `models` first, then the listed ones, else an ordinary one. */
export function findModel(
  id: string,
  models: Readonly<Record<string, Partial<SimulatedModel>>> = {},
): SimulatedModel {
  const listed = Object.hasOwn(listedModels, id) ? listedModels[id] : undefined;
  const given = Object.hasOwn(models, id) ? models[id] : undefined;
  return { ...ordinary, ...listed, ...given };
}
