import type { TSchema } from 'typebox';

/** Description of a route: words and schemas. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path in the syntax of the routers: `/v1/models/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: 'open' | 'key' | 'master' | 'panel';
  readonly query?: object;
  /** Request headers by name, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Schemas by status; null: no body. */
  readonly answers: Readonly<Record<number, TSchema | object | null>>;
  /** Content types of the answer; default: JSON only. */
  readonly answerTypes?: readonly string[];
}
