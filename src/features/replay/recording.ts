import type { MessagesRequest, PlacedExtras } from '../../plugin/index.js';

/** Parts of a recording that are replayed, as the built-in stage `record` writes it. */
export interface Recording {
  readonly atMs: number;
  readonly requestId: string;
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly format: string;
  readonly caller: { readonly kind: string; readonly keyId: string; readonly name: string };
  readonly headers: Readonly<Record<string, string>>;
  /** Stages that the request had passed. */
  readonly passed: readonly string[];
  /** Request in the caller's format; absent if `request` is there. */
  readonly body?: unknown;
  /** Messages request, recorded below format-decode. */
  readonly request?: MessagesRequest;
  /** Extras of `request`; absent: none. */
  readonly extras?: readonly PlacedExtras[];
  readonly delivery?: 'stream' | 'whole';
}
