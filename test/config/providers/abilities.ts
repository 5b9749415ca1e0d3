import type { ServerCapabilities } from '#plugins/upstreams/chat/server-capabilities.js';

/** Columns of the guide's table. */
export const columns = {
  upstream: 'upstream',
  tools: 'tools',
  thinking: 'thinking',
  images: 'images',
  documents: 'documents',
  structured: 'structured output',
  counting: 'token count',
  caching: 'prompt caching',
} as const;

export type Abilities = Readonly<Record<keyof typeof columns, string>>;

/** Abilities of a provider that speaks the format of the pipeline: nothing is translated. */
export function messagesAbilities(
  counting: 'by the provider' | 'by the provider, else estimate' | 'estimate',
  upstream = 'messages',
): Abilities {
  return {
    upstream: `\`${upstream}\``,
    tools: 'yes',
    thinking: 'yes, signed',
    images: 'yes',
    documents: 'yes',
    structured: 'by schema',
    counting,
    caching: 'by markers',
  };
}

/** Abilities of a server with these capabilities, in words. */
export function chatAbilities(server: ServerCapabilities): Abilities {
  return {
    upstream: '`chat`',
    tools: toolsOf(server),
    thinking: thinkingOf(server),
    images: { url: 'yes', data: 'as data, not by URL', none: 'no' }[server.images],
    documents: server.files ? 'yes' : 'no',
    structured: { json_schema: 'by schema', json_object: 'JSON without a schema', none: 'no' }[
      server.structuredOutput
    ],
    counting: 'estimate',
    caching: server.cacheControl ? 'by markers' : "the provider's own",
  };
}

function toolsOf({ toolChoice, strictTools }: ServerCapabilities): string {
  const choice = { allowed: 'yes', named: 'yes', words: 'yes; no choice by name', none: 'yes; not forced' }[
    toolChoice
  ];
  return strictTools ? `${choice}, strict` : choice;
}

function thinkingOf({ reasoning, reasoningField, thoughtSignatures }: ServerCapabilities): string {
  const control = {
    effort: 'by effort',
    object: 'by effort or budget',
    thinking: 'on, off, by effort',
    none: 'as the model does',
  }[reasoning];
  return reasoningField === 'none' && !thoughtSignatures ? control : `${control}; sent back`;
}
