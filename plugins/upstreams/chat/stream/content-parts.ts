import { fieldsOf, listOf, textOf } from '../../shared/fields.js';
import type { LatePart } from './late-text.js';

/** Parts of a content list, as Mistral sends them: `text`, and `thinking` with a list of texts. */
export function contentParts(content: unknown): readonly LatePart[] {
  return listOf(content).map((part) => {
    const { type, text, thinking } = fieldsOf(part);
    if (type !== 'thinking') return { kind: 'text', text: textOf(text) };
    const texts = listOf(thinking).map((each) => textOf(fieldsOf(each)['text']));
    return { kind: 'thinking', text: textOf(thinking) || texts.join('') };
  });
}
