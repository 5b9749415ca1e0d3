import type { IncomingMessage, ServerResponse } from 'node:http';

/** Sends `100 Continue` when the body is about to be read; never for a request refused before that. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
