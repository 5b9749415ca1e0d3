import { changedError, type GatewayError } from '@gw2api/gateway/plugin';

/**
 * Error of a service whose refusals are not in the vendor's own words, with the token by which clients of Messages
 * recognise the refused part.
 */
export function withCapability(error: GatewayError): GatewayError {
  const capability = capabilityIn(error);
  return capability === undefined ? error : changedError(error, { capability });
}

/**
 * Token for the part that an error refuses: the length of the prompt, a kind of block, a beta flag; undefined if none
 * is known.
 */
export function capabilityIn({
  status,
  message,
}: Pick<GatewayError, 'status' | 'message'>): string | undefined {
  if (status !== 400 && status !== 413) return undefined;
  const said = message.slice(0, maxReadLength);
  const [flag] = (/\bbetas?\b/i.test(said) && betaFlag.exec(said)) || [];
  if (flag !== undefined) return `beta_header:${flag}`;
  return refusals.find(([pattern, unless]) => pattern.test(said) && unless?.test(said) !== true)?.[2];
}

/** Max length of an upstream's own words, after which it may quote the caller. */
const maxReadLength = 500;

const betaFlag = /\b[a-z][a-z0-9-]{1,80}-20\d\d-\d\d-\d\d\b/;

/** Words of a refusal, words that exclude it, and its token. */
const refusals: readonly (readonly [RegExp, RegExp | undefined, string])[] = [
  [/too (?:many|much) (?:images?|documents?|media|pdf pages)/i, undefined, 'media_budget'],
  [
    /could not process image|\bimage (?:exceeds|dimensions|does not match|cannot be empty|file is empty|is too large)|\bimages? exceeds? /i,
    undefined,
    'image_block',
  ],
  [
    /not support[^.]{0,30}\bimages?\b|\bimages?\b[^.]{0,30}not supported|\.image\.source\b/i,
    undefined,
    'image_block',
  ],
  [
    /could not process (?:pdf|document)|\b(?:pdf|document) (?:specified|exceeds|cannot be empty|is too large)/i,
    undefined,
    'document_block',
  ],
  [
    /not support[^.]{0,30}\b(?:documents?|pdfs?)\b|\b(?:documents?|pdfs?)\b[^.]{0,30}not supported|\.document\.source\b/i,
    undefined,
    'document_block',
  ],
  [
    /(?:prompt|input) is too long|too many input tokens|maximum context length|(?:exceeds?|longer than)[^.]{0,60}\bcontext (?:window|length|limit|size)/i,
    /\bmax_tokens\b/, // refused with its sum: a smaller one helps
    'prompt_too_long',
  ],
];
