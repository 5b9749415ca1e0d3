import type { Format } from '../../plugin/index.js';
import type { CoreContext } from './exchange.js';

/** Gives a request the error bodies and the id header of formats. */
export type Dialect = (ctx: CoreContext) => void;

/** Dialect of a path: of its format, or of all formats that share it, whose error bodies are joined. */
export function dialectOf(formats: readonly Format[]): Dialect {
  const writeError = errorWriter(formats);
  const names = formats.flatMap(({ requestIdHeader }) => requestIdHeader ?? []);
  return ({ state, res }) => {
    if (writeError) state.formatError = writeError;
    for (const name of names) res.setHeader(name, state.requestId);
  };
}

/** Dialect of the paths that clients of Messages and of the OpenAI formats share: models, usage, unknown ones. */
export function sharedDialect(formats: readonly Format[]): Dialect {
  return dialectOf(['messages', 'chat'].flatMap((name) => formats.filter((format) => format.name === name)));
}

/** Writes all members of the formats' bodies; the last one wins. */
function errorWriter(formats: readonly Format[]): Format['error'] {
  const own = formats.filter(({ error }) => error);
  const [only] = own;
  if (own.length <= 1) return only?.error?.bind(only);
  return (error, request) =>
    Object.assign({}, ...own.map((format) => format.error?.(error, request))) as object;
}
