import type { ModelEvents } from '@gw2api/gateway/plugin';
import { ResponseAnswer, type ResponseObject, type ResponsesRequest } from './answer.js';
import { readerOf } from './compaction/compaction-answer.js';
import { readAll } from '../shared/answer/relay.js';

/** The whole response: the fold of its stream. */
export async function responsesReply(
  events: ModelEvents,
  request: ResponsesRequest,
): Promise<ResponseObject> {
  const answer = new ResponseAnswer(request, { emit: ignore, emitEach: ignore, emitJson: ignore });
  await readAll(events, readerOf(answer));
  await request.keep(answer.finished(true));
  return answer.finished();
}

function ignore(): void {}
