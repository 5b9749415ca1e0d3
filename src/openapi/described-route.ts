import type { TSchema } from 'typebox';

/** A route in words and schemas. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As the routers have it: `/v1/models/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: 'open' | 'key' | 'master' | 'panel';
  readonly query?: object;
  /** Request headers with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** By status; null: without a body. */
  readonly answers: Readonly<Record<number, TSchema | object | null>>;
  /** Content types; default JSON only. */
  readonly answerTypes?: readonly string[];
}
