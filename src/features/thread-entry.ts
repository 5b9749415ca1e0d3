import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openGateway } from './open.js';
import type { OpenGateway } from '../gateway/gateway.js';

/**
 * Entry module of this worker thread, named by the feature that started it. Gets `openGateway` as an argument, since
 * a feature may not import `open.js`.
 */
const { module } = workerData as { readonly module: string }; // set by that feature's `new Worker`
const { serve } = (await import(module)) as {
  readonly serve: (port: MessagePort, openGateway: OpenGateway) => void;
};
if (parentPort) serve(parentPort, openGateway);
