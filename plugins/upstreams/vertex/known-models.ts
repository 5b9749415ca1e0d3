import type { ListedModel } from '@gw2api/gateway/plugin/upstream';

/**
 * Models of Anthropic on Vertex AI, newest first; later ones have no date there. Source: the vendor's overview of models
 * (platform.claude.com/docs/en/about-claude/models/overview), October 2026.
 */
export const knownModels: readonly ListedModel[] = [
  'claude-haiku-5-5',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-fable-5-1',
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-fable-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-sonnet-4-6',
  'claude-opus-4-6',
  'claude-opus-4-5@20251101',
  'claude-haiku-4-5@20251001',
  'claude-sonnet-4-5@20250929',
].map((id) => (id.includes('@') ? { id, aliases: [id.replace('@', '-')] } : { id }));
