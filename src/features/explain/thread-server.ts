import type { MessagePort } from 'node:worker_threads';
import { problemsOf } from '../../config/config.js';
import type { OpenGateway } from '../../gateway/gateway.js';
import { SocketGuard } from '../dry-run/socket-guard.js';
import { explain } from './explainer.js';
import { revived, type ThreadAnswer, type ThreadTask } from './thread-task.js';

/** Explains the requests that this thread is sent, one after another. */
export function serve(port: MessagePort, openGateway: OpenGateway): void {
  const guard = new SocketGuard(); // between the runs, too: a plugin may have left something behind
  port.once('close', () => guard.close());
  port.on('message', (task: ThreadTask) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node has no origin
    void answerTo(task, openGateway).then((answer) => port.postMessage(answer)); // the task is the gateway's own
  });
}

async function answerTo(
  { config, request, settings }: ThreadTask,
  openGateway: OpenGateway,
): Promise<ThreadAnswer> {
  try {
    return { explanation: await explain(revived(config), request, openGateway, settings) };
  } catch (error) {
    return { problem: problemsOf(error).join('\n') };
  }
}
