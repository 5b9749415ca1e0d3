import { parentPort, workerData } from 'node:worker_threads';
import { problemsOf } from '../config/config.js';
import { explain } from './explain.js';
import { revived, type ThreadAnswer, type ThreadTask } from './thread-task.js';

/** Entry of a thread that explains one request. */
async function main({ config, request, settings }: ThreadTask): Promise<ThreadAnswer> {
  try {
    return { explanation: await explain(revived(config), request, settings) };
  } catch (error) {
    return { problem: problemsOf(error).join('\n') };
  }
}

const answer = await main(workerData as ThreadTask); // the gateway's own
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node has no origin
parentPort?.postMessage(answer);
