import type { Citation } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, type Fields, listOf, textOf } from '../../shared/fields.js';
import { malformed } from '../../shared/openai/openai-stream-error.js';
import { pageCitation } from '../../shared/answer/page-citation.js';
import type { LatePart } from './late-text.js';

/** Fields of a chunk. Throws for anything but a JSON object. */
export function parseChunk(data: string): Fields {
  try {
    const chunk: unknown = JSON.parse(data);
    if (typeof chunk === 'object' && chunk !== null) return chunk as Fields; // any object may be read by name
  } catch (cause) {
    throw malformed('a chunk that is not JSON', cause);
  }
  throw malformed('a chunk that is not a JSON object');
}

/** True for a chunk that was cut before any text of the answer, which can be skipped without loss. */
export function isCutBeforeText(data: string): boolean {
  return data.startsWith('{') && !data.trimEnd().endsWith('}') && !text.test(data);
}

/** A field of a delta, or a finish reason, with a text in it. */
const text = /"(?:content|text|reasoning\w{0,20}|thinking|refusal|name|arguments|finish_reason)"\s*:\s*"/;

/** Choice 0; undefined in chunks without choices, and in those of further ones. */
export function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    const fields = fieldsOf(choice);
    const { index = 0 } = fields;
    if (index === 0) return fields;
  }
  return undefined;
}

/** Pages that `annotations` cite. */
export function citationsIn(annotations: unknown): readonly Citation[] {
  return listOf(annotations).flatMap((annotation) =>
    pageCitation(fieldsOf(fieldsOf(annotation)['url_citation'])),
  );
}

/** Parts of a content list, as Mistral sends them: `text`, and `thinking` with a list of texts. */
export function contentParts(content: unknown): readonly LatePart[] {
  return listOf(content).map((part) => {
    const { type, text, thinking } = fieldsOf(part);
    if (type !== 'thinking') return { kind: 'text', text: textOf(text) };
    const texts = listOf(thinking).map((each) => textOf(fieldsOf(each)['text']));
    return { kind: 'thinking', text: textOf(thinking) || texts.join('') };
  });
}
