export type WireFormat = 'messages' | 'chat' | 'responses' | 'completions';

/**
 * `other`: a known path with a method that it has no handler for; only plain Koa middleware stages see it.
 */
export type Operation = 'generate' | 'count-tokens' | 'models' | 'usage' | 'stored-response' | 'other';
