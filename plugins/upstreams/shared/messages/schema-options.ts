import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';

/** Options of a Messages kind for enforced forms; `isTaken`: the service takes them by default. */
export function schemaOptions(isTaken: boolean) {
  return {
    strictTools: Type.Boolean({
      default: isTaken,
      description:
        'Takes strict on tools, for Chat and Responses callers; otherwise their tools are sent without it, which is reported.',
    }),
    structuredOutput: Type.Boolean({
      default: isTaken,
      description:
        'Takes output_config.format, for Chat and Responses callers; otherwise the system text asks for that form.',
    }),
  };
}

const options = Type.Object(schemaOptions(true));

/** Forms that a service enforces, according to its slot and its refusals. */
export interface SchemaOptions extends Readonly<Static<typeof options>> {
  /** False: not even the tool that `tool-choice` has made strict. */
  readonly forcedStrict?: boolean;
}
