import type { ModelEvent } from 'gw2api/plugin';
import { isErrorBody } from 'gw2api/plugin/upstream';
import type { ChatAnswer } from './chat-answer.js';
import type { Fields } from '../../shared/fields.js';

/** Events of a whole answer; undefined for what is none. Throws the error of a 200 that holds one. */
export function wholeAnswer(answer: Fields, translator: ChatAnswer): readonly ModelEvent[] | undefined {
  if (!Array.isArray(answer['choices']) && !isErrorBody(answer)) return undefined;
  const events: ModelEvent[] = [];
  translator.readWhole(answer, events);
  return events;
}
