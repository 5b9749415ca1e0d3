import type { ModelEvents } from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { readAll } from '../relay.js';
import { ResponseAnswer, type ResponseObject, type ResponsesRequest } from './answer.js';
import { responsesParts } from './parts.js';

/** The whole response: what its stream would have ended with. */
export async function responsesReply(
  events: ModelEvents,
  request: ResponsesRequest,
): Promise<ResponseObject> {
  const answer = new ResponseAnswer(request, { emit: () => undefined, emitJson: () => undefined });
  await readAll(events, new AnswersReader(1, responsesParts, () => answer));
  await request.keep(answer.finished(true));
  return answer.finished();
}
