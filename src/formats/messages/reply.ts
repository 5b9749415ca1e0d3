import { foldMessage, type MessagesResponse, type ModelEvents } from '../../plugin/index.js';

/** The whole message, under the model's name that the caller used. */
export async function messagesReply(events: ModelEvents, model: string): Promise<MessagesResponse> {
  return { ...(await foldMessage(events)), model };
}
