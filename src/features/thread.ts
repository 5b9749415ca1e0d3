import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openGateway } from './open.js';
import type { OpenGateway } from '../gateway/gateway.js';

/** Module of a feature that handles the messages of this thread; it may not import `open.js` itself. */
const { module } = workerData as { readonly module: string }; // of whoever has started the thread
const { serve } = (await import(module)) as {
  readonly serve: (port: MessagePort, openGateway: OpenGateway) => void;
};
if (parentPort) serve(parentPort, openGateway);
