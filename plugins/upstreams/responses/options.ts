import type { Static } from 'typebox';
import { Type } from 'gw2api/plugin';

/** Options of a slot of the kind `responses`. */
export const responsesOptions = Type.Object(
  {
    /** Asks for encrypted reasoning, which goes back in later turns; models without reasoning may refuse that. */
    encryptedReasoning: Type.Boolean({ default: true }),
    /** Efforts that the models take; another one becomes the nearest below it. */
    efforts: Type.Array(Type.String(), { default: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] }),
    /** `strict` on functions and schemas. */
    strictTools: Type.Boolean({ default: true }),
    /** Documents (PDF) as `input_file` parts. */
    files: Type.Boolean({ default: true }),
    /** Name that slots of one organisation share: encrypted reasoning goes back to any of them. Default: the slot's id. */
    vendor: Type.Optional(Type.String({ minLength: 1 })),
    /** Handling of what Responses cannot express: named in `x-gw-dropped`, or refused with 400. */
    unsupported: Type.Enum(['report', 'reject'], { default: 'report' }),
  },
  { title: 'Responses API' },
);

export type ResponsesOptions = Static<typeof responsesOptions>;

/** Settings of a slot: its options, and the origin of its reasoning. */
export interface ResponsesSettings extends ResponsesOptions {
  readonly vendor: string;
}
