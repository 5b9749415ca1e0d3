/**
 * Purpose of a request. `route`: a format's own path, behind auth; `other`: a known path with a method that it
 * has no handler for, which only plain Koa middleware stages see.
 */
export type Operation = 'generate' | 'count-tokens' | 'models' | 'usage' | 'route' | 'other';
