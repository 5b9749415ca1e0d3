/** Capabilities of the simulator's upstream models. */
export interface SimulatedModel {
  readonly maxTokens: number;
  readonly contextWindow: number;
  /** False: a `tool_choice` of any or tool is refused. */
  readonly forcedToolChoice: boolean;
  /** False: `temperature`, `top_p` and `top_k` are refused; `one`: the first two together. */
  readonly sampling: boolean | 'one';
  /** The one kind of thinking that it takes; `any`: all of them. */
  readonly thinking: 'any' | 'adaptive' | 'budget' | 'none';
}

const ordinary: SimulatedModel = {
  maxTokens: 128_000,
  contextWindow: 1_000_000,
  forcedToolChoice: true,
  sampling: true,
  thinking: 'any',
};

const ownModels: Readonly<Record<string, Partial<SimulatedModel>>> = {
  'sonnet-5': {},
  'sonnet-5-5': { forcedToolChoice: false },
  'haiku-5': {},
};

/** The models that `GET /v1/models` lists, each by both of its names; a request may name any other too. */
export const listedModels: Readonly<Record<string, Partial<SimulatedModel>>> = Object.fromEntries(
  Object.entries(ownModels).flatMap(([id, model]) => [
    [id, model],
    [`claude-${id}`, model],
  ]),
);

/** Models by id, if they differ from the default. */
export type ModelTable = Readonly<Record<string, Partial<SimulatedModel>>>;

/** A model by id: `models` first, then the listed ones, else an ordinary one. */
export function findModel(id: string, models: ModelTable = {}): SimulatedModel {
  const listed = Object.hasOwn(listedModels, id) ? listedModels[id] : undefined;
  const given = Object.hasOwn(models, id) ? models[id] : undefined;
  return { ...ordinary, ...listed, ...given };
}

/** An entry of `GET /v1/models`, with the real fields for a model's capabilities. */
export function describeModel(id: string, models: ModelTable): object {
  const { maxTokens, contextWindow, thinking } = findModel(id, models);
  const isAdaptive = thinking === 'any' || thinking === 'adaptive';
  const types = {
    adaptive: support(isAdaptive),
    between_tools: support(false),
    disabled: support(true),
    enabled: support(thinking === 'any' || thinking === 'budget'),
  };
  const levels = ['low', 'medium', 'high', 'xhigh', 'max'].map((level) => [level, support(isAdaptive)]);
  return {
    type: 'model',
    id,
    display_name: `Simulated ${id}`,
    created_at: '2026-01-01T00:00:00Z',
    max_tokens: maxTokens,
    max_input_tokens: contextWindow,
    capabilities: {
      effort: { ...support(isAdaptive), ...(Object.fromEntries(levels) as object) },
      thinking: { ...support(thinking !== 'none'), types },
    },
  };
}

function support(supported: boolean): { readonly supported: boolean } {
  return { supported };
}
