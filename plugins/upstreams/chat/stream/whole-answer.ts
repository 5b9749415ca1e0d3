import type { ModelEvent } from '@gw2api/gateway/plugin';
import { isErrorBody, jsonFields } from '@gw2api/gateway/plugin/upstream';
import type { ChatAnswer } from './chat-answer.js';

/** Events of a whole answer; undefined for anything else. Throws the error of a 200 that holds one. */
export function wholeAnswer(json: string, translator: ChatAnswer): readonly ModelEvent[] | undefined {
  const answer = jsonFields(json);
  if (!Array.isArray(answer['choices']) && !isErrorBody(answer)) return undefined;
  const events: ModelEvent[] = [];
  translator.readWhole(answer, events, json);
  return events;
}
