import type { Static } from 'typebox';
import { Type } from 'gw2api/plugin';

/** Options of a Messages kind for what it is held to; `isTaken`: the service takes them unless told otherwise. */
export function schemaOptions(isTaken: boolean) {
  return {
    strictTools: Type.Boolean({
      default: isTaken,
      description:
        'Takes strict on tools, for Chat and Responses callers; otherwise their tools go without, reported.',
    }),
    structuredOutput: Type.Boolean({
      default: isTaken,
      description:
        'Takes output_config.format, for Chat and Responses callers; otherwise the system text asks for the form.',
    }),
  };
}

const options = Type.Object(schemaOptions(true));

export type SchemaOptions = Readonly<Static<typeof options>>;
