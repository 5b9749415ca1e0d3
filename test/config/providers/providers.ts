import { presets } from '#plugins/upstreams/chat/presets.js';
import { providers as slots, idOf, type Provider as ProviderSlot } from '#src/cli/init/providers.js';
import { chatAbilities, messagesAbilities, type Abilities } from './abilities.js';

/** A provider of the guide `config/providers.md`. */
export interface Provider extends ProviderSlot {
  readonly abilities: Abilities;
}

/** Abilities of the providers that serve the Messages API, by the ids of their slots. */
const messages: Readonly<Record<string, Abilities>> = {
  anthropic: messagesAbilities('by the provider'),
  foundry: cloud('by the provider'),
  bedrock: cloud('by the provider', 'bedrock'),
  mantle: cloud('estimate'),
  'claude-on-aws': cloud('by the provider, else estimate'),
  vertex: cloud('by the provider', 'vertex'),
  'claude-on-google': cloud('by the provider, else estimate'),
  'deepseek-messages': {
    ...messagesAbilities('estimate'),
    thinking: 'yes',
    images: 'no',
    documents: 'no',
    structured: 'no',
    caching: "the provider's own",
  },
};

/** The providers of the guide, in its order. */
export const providers: readonly Provider[] = slots.map((slot) => ({
  ...slot,
  abilities: abilitiesOf(idOf(slot)),
}));

function abilitiesOf(id: string): Abilities {
  const preset = Object.entries(presets).find(([name]) => name === id)?.[1];
  const abilities = preset ? chatAbilities(preset) : messages[id];
  if (!abilities) throw new Error(`The abilities of ${id} are missing.`);
  return abilities;
}

/** Abilities of Claude in a cloud, where some depend on the model. */
function cloud(...[counting, upstream]: Parameters<typeof messagesAbilities>): Abilities {
  return { ...messagesAbilities(counting, upstream), structured: 'depends on the model' };
}
